//! Other processes: this test program once more, in a role.

use super::rig::{self, Rig};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const ROLE: &str = "SHARING_TEST_ROLE";
const MARK: &str = "other process says: ";

/// Another process that plays a role. It is killed when dropped.
pub(crate) struct Other {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Other {
    /// Starts it.
    pub(crate) fn start(role: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "other::another_process", "--nocapture"])
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self {
            child,
            to,
            from: BufReader::new(from),
        }
    }

    /// Tells it numbers.
    pub(crate) fn tell(&mut self, numbers: &[i64]) {
        let line: Vec<String> = numbers.iter().map(i64::to_string).collect();
        writeln!(self.to, "{}", line.join(" ")).unwrap();
    }

    /// Hears numbers from it.
    pub(crate) fn hear(&mut self) -> Vec<i64> {
        loop {
            let mut line = String::new();
            assert_ne!(
                self.from.read_line(&mut line).unwrap(),
                0,
                "the other process is gone"
            );
            // The test harness writes to the same pipe, and without an end of line at that.
            if let Some((_, numbers)) = line.split_once(MARK) {
                return numbers.split_whitespace().map(|n| n.parse().unwrap()).collect();
            }
        }
    }

    /// Its process number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The test program that plays a role, seen from inside.
pub(crate) struct Parent;

impl Parent {
    /// Hears numbers; ends the process when the parent is gone.
    pub(crate) fn hear(&self) -> Vec<i64> {
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line).unwrap() == 0 {
            std::process::exit(0);
        }
        line.split_whitespace().map(|n| n.parse().unwrap()).collect()
    }

    /// Tells numbers.
    pub(crate) fn tell(&self, numbers: &[i64]) {
        let line: Vec<String> = numbers.iter().map(i64::to_string).collect();
        println!("\n{MARK}{}", line.join(" "));
    }
}

/// The words of a name as numbers to tell, and back.
pub(crate) fn numbers(words: [u32; 8]) -> Vec<i64> {
    words.iter().map(|&word| word.into()).collect()
}

/// See [`numbers`].
pub(crate) fn words(numbers: &[i64]) -> [u32; 8] {
    let words: Vec<u32> = numbers.iter().map(|&n| n.try_into().unwrap()).collect();
    words.try_into().unwrap()
}

type Role = fn(Rig, &Parent);

const ROLES: &[(&str, Role)] = &[
    ("attach a signal", super::signals::attach_a_signal),
    ("give a signal", super::signals::give_a_signal),
    ("sleep on a signal", super::signals::sleep_on_a_signal),
    ("attach memory", super::memory::attach_memory),
    ("give memory", super::memory::give_memory),
    ("use again", super::memory::use_again),
    ("take a descriptor", super::virtual_memory::take_a_descriptor),
    ("be plain", super::virtual_memory::be_plain),
];

/// Plays the role that it was started for. For a process that was started for none, it sees that no role stands in the
/// way of another.
#[test]
fn another_process() {
    let Ok(role) = std::env::var(ROLE) else {
        for (index, (name, _)) in ROLES.iter().enumerate() {
            assert!(ROLES[..index].iter().all(|(other, _)| other != name), "{name}");
        }
        return;
    };
    let (_, play) = ROLES.iter().find(|(name, _)| *name == role).unwrap();
    super::driver::PLAIN.store(role == "be plain", std::sync::atomic::Ordering::Relaxed);
    play(rig::rig(), &Parent);
    std::process::exit(0);
}
