//! Functions of our own that translated code calls, and what they call. They are `internal`, so that nothing of them is left
//! but what was inlined.

/// A function with what it needs.
struct Helper {
    name: &'static str,
    needs: &'static [&'static str],
    declares: &'static [&'static str],
    text: &'static str,
}

/// The correctly rounded square root: three steps of Goldschmidt and Newton from the hardware's reciprocal root, with small
/// numbers scaled by an even power of two, as the last step loses bits of subnormal ones.
const SQRT: &str = r"define internal double @hansa.sqrt(double %x) #1 {
  %small = fcmp olt double %x, 0x1000000000000000
  %up = select i1 %small, double 0x4FF0000000000000, double 1.0
  %down = select i1 %small, double 0x37F0000000000000, double 1.0
  %a = fmul double %x, %up
  %y = call double @llvm.amdgcn.rsq.f64(double %a)
  %g0 = fmul double %a, %y
  %h0 = fmul double %y, 0.5
  %nh0 = fneg double %h0
  %r0 = call double @llvm.fma.f64(double %nh0, double %g0, double 0.5)
  %g1 = call double @llvm.fma.f64(double %g0, double %r0, double %g0)
  %h1 = call double @llvm.fma.f64(double %h0, double %r0, double %h0)
  %ng1 = fneg double %g1
  %d1 = call double @llvm.fma.f64(double %ng1, double %g1, double %a)
  %g2 = call double @llvm.fma.f64(double %d1, double %h1, double %g1)
  %ng2 = fneg double %g2
  %d2 = call double @llvm.fma.f64(double %ng2, double %g2, double %a)
  %g3 = call double @llvm.fma.f64(double %d2, double %h1, double %g2)
  %root = fmul double %g3, %down
  %zero = fcmp oeq double %x, 0.0
  %infinite = fcmp oeq double %x, 0x7FF0000000000000
  %itself = or i1 %zero, %infinite
  %result = select i1 %itself, double %x, double %root
  ret double %result
}
";

/// Wakes who waits for a signal: its event's number goes to the mailbox, and an interrupt to the host.
const NOTIFY: &str = r"define internal void @hansa.notify(ptr addrspace(1) %signal) #1 {
  %mailbox.at = getelementptr i8, ptr addrspace(1) %signal, i64 16
  %mailbox = load i64, ptr addrspace(1) %mailbox.at, align 8
  %none = icmp eq i64 %mailbox, 0
  br i1 %none, label %done, label %send
send:
  %event.at = getelementptr i8, ptr addrspace(1) %signal, i64 24
  %event = load i32, ptr addrspace(1) %event.at, align 8
  %wide = zext i32 %event to i64
  %to = inttoptr i64 %mailbox to ptr addrspace(1)
  store atomic i64 %wide, ptr addrspace(1) %to release, align 8
  %first = call i32 @llvm.amdgcn.readfirstlane(i32 %event)
  %number = and i32 %first, 255
  call void @llvm.amdgcn.s.sendmsg(i32 1, i32 %number)
  br label %done
done:
  ret void
}
";

/// Whether this is the first active lane.
const FIRST: &str = r"define internal i1 @hansa.first() #1 {
  %active = call i64 @hansa.active()
  %low = trunc i64 %active to i32
  %shifted = lshr i64 %active, 32
  %high = trunc i64 %shifted to i32
  %below.low = call i32 @llvm.amdgcn.mbcnt.lo(i32 %low, i32 0)
  %below = call i32 @llvm.amdgcn.mbcnt.hi(i32 %high, i32 %below.low)
  %first = icmp eq i32 %below, 0
  ret i1 %first
}
";

/// The active lanes of wavefronts of 64.
const ACTIVE: &str = r"define internal i64 @hansa.active() #1 {
  %active = call i64 @llvm.amdgcn.ballot.i64(i1 true)
  ret i64 %active
}
";

/// The same of 32.
const ACTIVE_32: &str = r"define internal i64 @hansa.active() #1 {
  %mask = call i32 @llvm.amdgcn.ballot.i32(i1 true)
  %active = zext i32 %mask to i64
  ret i64 %active
}
";

/// Changes an fbarrier: adds to its word, and when all members have arrived, starts the next round with none. What it was
/// before is the same for all lanes.
const CHANGE: &str = r"define internal i64 @hansa.fbarrier.change(ptr addrspace(3) %state, i64 %by) #1 {
entry:
  %first = call i1 @hansa.first()
  br i1 %first, label %begin, label %done
begin:
  %start = load atomic i64, ptr addrspace(3) %state syncscope(\22workgroup\22) monotonic, align 8
  br label %try
try:
  %old = phi i64 [ %start, %begin ], [ %seen, %try ]
  %sum = add i64 %old, %by
  %members = and i64 %sum, 65535
  %shifted = lshr i64 %sum, 16
  %arrived = and i64 %shifted, 65535
  %all = icmp eq i64 %members, %arrived
  %some = icmp ne i64 %arrived, 0
  %complete = and i1 %all, %some
  %round = lshr i64 %sum, 32
  %next.round = add i64 %round, 1
  %high = shl i64 %next.round, 32
  %next = or i64 %high, %members
  %new = select i1 %complete, i64 %next, i64 %sum
  %pair = cmpxchg ptr addrspace(3) %state, i64 %old, i64 %new syncscope(\22workgroup\22) acq_rel monotonic, align 8
  %seen = extractvalue { i64, i1 } %pair, 0
  %is.done = extractvalue { i64, i1 } %pair, 1
  br i1 %is.done, label %done, label %try
done:
  %mine = phi i64 [ 0, %entry ], [ %old, %try ]
  %mine.high = lshr i64 %mine, 32
  %word = trunc i64 %mine.high to i32
  %low = trunc i64 %mine to i32
  %all.high = call i32 @llvm.amdgcn.readfirstlane(i32 %word)
  %all.low = call i32 @llvm.amdgcn.readfirstlane(i32 %low)
  %wide.high = zext i32 %all.high to i64
  %wide.low = zext i32 %all.low to i64
  %up = shl i64 %wide.high, 32
  %result = or i64 %up, %wide.low
  ret i64 %result
}
";

const JOIN: &str = r"define internal void @hansa.fbarrier.join(ptr addrspace(3) %state) #1 {
  %old = call i64 @hansa.fbarrier.change(ptr addrspace(3) %state, i64 1)
  ret void
}
";

/// One member less; if the others have all arrived, they go on.
const LEAVE: &str = r"define internal void @hansa.fbarrier.leave(ptr addrspace(3) %state) #1 {
  %old = call i64 @hansa.fbarrier.change(ptr addrspace(3) %state, i64 -1)
  ret void
}
";

const ARRIVE: &str = r"define internal void @hansa.fbarrier.arrive(ptr addrspace(3) %state) #1 {
  fence syncscope(\22workgroup\22) release
  %old = call i64 @hansa.fbarrier.change(ptr addrspace(3) %state, i64 65536)
  ret void
}
";

const WAIT: &str = r"define internal void @hansa.fbarrier.wait(ptr addrspace(3) %state) #1 {
  fence syncscope(\22workgroup\22) release
  %old = call i64 @hansa.fbarrier.change(ptr addrspace(3) %state, i64 65536)
  %before = lshr i64 %old, 32
  br label %look
look:
  %now = load atomic i64, ptr addrspace(3) %state syncscope(\22workgroup\22) acquire, align 8
  %round = lshr i64 %now, 32
  %same = icmp eq i64 %round, %before
  br i1 %same, label %sleep, label %done
sleep:
  call void @llvm.amdgcn.s.sleep(i32 1)
  br label %look
done:
  fence syncscope(\22workgroup\22) acquire
  ret void
}
";

const CHANGES: &[&str] = &["hansa.fbarrier.change"];

static HELPERS: &[Helper] = &[
    Helper {
        name: "hansa.sqrt",
        needs: &[],
        declares: &[
            "declare double @llvm.amdgcn.rsq.f64(double)",
            "declare double @llvm.fma.f64(double, double, double)",
        ],
        text: SQRT,
    },
    Helper {
        name: "hansa.notify",
        needs: &[],
        declares: &[
            "declare i32 @llvm.amdgcn.readfirstlane(i32)",
            "declare void @llvm.amdgcn.s.sendmsg(i32, i32)",
        ],
        text: NOTIFY,
    },
    Helper {
        name: "hansa.active",
        needs: &[],
        declares: &["declare i64 @llvm.amdgcn.ballot.i64(i1)"],
        text: ACTIVE,
    },
    Helper {
        name: "hansa.first",
        needs: &["hansa.active"],
        declares: &[
            "declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)",
            "declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)",
        ],
        text: FIRST,
    },
    Helper {
        name: "hansa.fbarrier.change",
        needs: &["hansa.first"],
        declares: &["declare i32 @llvm.amdgcn.readfirstlane(i32)"],
        text: CHANGE,
    },
    Helper {
        name: "hansa.fbarrier.join",
        needs: CHANGES,
        declares: &[],
        text: JOIN,
    },
    Helper {
        name: "hansa.fbarrier.leave",
        needs: CHANGES,
        declares: &[],
        text: LEAVE,
    },
    Helper {
        name: "hansa.fbarrier.arrive",
        needs: CHANGES,
        declares: &[],
        text: ARRIVE,
    },
    Helper {
        name: "hansa.fbarrier.wait",
        needs: CHANGES,
        declares: &["declare void @llvm.amdgcn.s.sleep(i32)"],
        text: WAIT,
    },
];

/// What stands for a function of the table where wavefronts have 32 lanes.
static HELPERS_32: &[Helper] = &[Helper {
    name: "hansa.active",
    needs: &[],
    declares: &["declare i32 @llvm.amdgcn.ballot.i32(i1)"],
    text: ACTIVE_32,
}];

/// Texts and declarations of the functions of these names and of all that they need, for a number of lanes.
pub(super) fn texts<'a>(
    names: impl Iterator<Item = &'a str>,
    wavefront: u32,
) -> (Vec<String>, Vec<&'static str>) {
    let first = if wavefront == 32 { HELPERS_32 } else { &[] };
    let mut open: Vec<&str> = names.collect();
    let mut done: Vec<&'static Helper> = Vec::new();
    while let Some(name) = open.pop() {
        let helper = first.iter().chain(HELPERS).find(|helper| helper.name == name);
        if let Some(helper) = helper.filter(|helper| done.iter().all(|other| other.name != helper.name)) {
            done.push(helper);
            open.extend(helper.needs);
        }
    }
    let texts = done
        .iter()
        .map(|helper| helper.text.replace("\\22", "\""))
        .collect();
    (
        texts,
        done.iter().flat_map(|helper| helper.declares).copied().collect(),
    )
}
