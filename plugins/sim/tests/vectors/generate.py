#!/usr/bin/env python3
"""Asks an independent emulator what vector instructions do with edge values, and writes the answers (README.md).

generate.py TREE OUT, by hand: TREE is tinygrad's git tree, with an __init__.py in each directory from test to
test/mockgpu/amd and test/amd. Needs clang 19 and llvm-mc 15 and 19."""
import ctypes, itertools, os, random, re, struct, subprocess, sys
sys.path.insert(0, sys.argv[1])
os.environ.setdefault("CC", "clang-19"); os.environ.setdefault("DEV", "CPU")
TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../src/isa/table')

def names():
    """Every vector instruction that the decoder knows."""
    found = set()
    for family in ('vop1', 'vop2', 'vop3', 'vop3p', 'vopc'):
        found.update(re.findall(r'"(v_[a-z0-9_]*)"', open(f'{TABLES}/{family}.rs').read()))
    return found

def fbits(x): return struct.unpack('<I', struct.pack('<f', x))[0]
def dbits(x): return struct.unpack('<Q', struct.pack('<d', x))[0]
def hbits(x): return struct.unpack('<H', struct.pack('<e', x))[0]
F32 = [0, 1<<31, 1, 0x80000001, 0x7fffff, 0x807fffff, 0x800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
       0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345] + [fbits(x) for x in
       (1, -1, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 2, -3, 4, 0.1, -0.3, 3.14159265, 1e-3, 255.5, 256, -128.5, 65504, 65520, 65536, 16777216, 16777217,
        2147483520, 2147483648, -2147483648, -2147483904, 4294967040, 4294967296, 1e10, -1e20, 1e30, 6.1e-5, 5.9e-8, 2.9e-8, 0.99999994, 1.0000001)]
F16 = [0, 0x8000, 1, 0x8001, 0x3ff, 0x83ff, 0x400, 0x8400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0xfd23] + [hbits(x) for x in
       (1, -1, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 2, -3, 0.1, -0.3, 3.14, 100.25, 255.5, 1024, 2048, 2049, 32768, -32768, 65504)]
F64 = [0, 1<<63, 1, 0xfffffffffffff, 0x10000000000000, 0x8010000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
       0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001] + [dbits(x) for x in
       (1, -1, 0.5, -0.5, 1.5, -2.5, 2, -3, 0.1, -0.3, 3.141592653589793, 1e-310, 1e300, -1e-300, 2147483647, 2147483647.5, 2147483648, -2147483648, -2147483649,
        4294967295, 4294967295.5, 4294967296, 9007199254740993, 1e-45, 3.5e38, 7e-46, 0.9999999999999999, 1.0000000000000002, 16777217)]
B32 = [0, 1, 2, 3, 7, 8, 15, 16, 24, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff, 0x800000, 0xffffff, 0x1000000, 0x7fffffff,
       0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x55555555, 0xaaaaaaaa, 0x12345678, 0xdeadbeef, 0x00ff00ff, 0xffff0000, 0x80ff7f01, 0x3f800000, 0xc0490fdb]
B64 = [0, 1, 2, 0xff, 0xffffffff, 1<<32, (1<<32)-2, (1<<63)-1, 1<<63, (1<<64)-1, (1<<64)-2, 0x123456789abcdef0, 0xdeadbeefcafebabe, 0x5555555555555555]
kinds = {
  'f32': (F32, 32), 'f16': (F16, 16), 'f64': (F64, 64), 'b32': (B32, 32), 'b64': (B64, 64),
  'pk16': ([a | b << 16 for a, b in zip(F16, F16[7:] + F16[:7])] + [0x7fff8000, 0x80017fff, 0xffffffff, 0x00010001], 32),
  'exp': ([n & 0xffffffff for n in (-1100, -1074, -400, -300, -200, -150, -149, -126, -25, -24, -14, -2, -1, 0, 1, 2, 5, 15, 16, 30, 100, 127, 128, 200, 300, 1023, 1024, 2100, 0x7fffffff, -0x80000000)], 32),
  'class': ([1 << n for n in range(10)] + [0, 0x3ff, 0x155, 0x2aa, 0x204, 0x90, 3], 32),
}
def rows():
    r = random.Random(900)
    out = {}
    for kind, (edges, bits) in kinds.items():
        for source in range(3):
            for wave in range(2):
                pool = list(edges)
                r.shuffle(pool)
                row = []
                for lane in range(64):
                    v = pool[lane % len(pool)] if lane < len(pool) or r.random() < 0.6 else r.getrandbits(bits)
                    if kind == 'f32' and v.bit_length() and r.random() < 0.08: v ^= 1
                    if kind == 'f16' and r.random() < 0.5: v |= r.getrandbits(16) << 16   # what is above must not count
                    row.append(v & ((1 << 64) - 1))
                out[kind, source, wave] = row
    # equal operands, for compares and differences
    for kind in ('f32', 'f16', 'f64', 'b32', 'b64'):
        for wave in range(2):
            for lane in range(3, 64, 5): out[kind, 1, wave][lane] = out[kind, 0, wave][lane]
    return out
ROWS = rows()

def assemble(lines, tool, cpu):
    """Encodings of the lines that assemble, by line."""
    p = subprocess.run([tool, '-triple=amdgcn-amd-amdhsa', f'-mcpu={cpu}', '-show-encoding'], input='\n'.join(lines) + '\n', capture_output=True, text=True)
    bad = {int(n) - 1 for n in re.findall(r'<stdin>:(\d+):\d+: error', p.stderr)}
    encodings = [bytes(int(b, 16) for b in m.split(',')) for m in re.findall(r'encoding: \[([^\]]*)\]', p.stdout)]
    good = [i for i in range(len(lines)) if i not in bad]
    assert len(good) == len(encodings), (tool, cpu, len(good), len(encodings))
    return dict(zip(good, encodings))

SKIP = ('v_nop', 'v_clrexcp', 'v_readlane', 'v_readfirstlane', 'v_writelane', 'v_swap', 'v_mfma', 'v_accvgpr', 'v_interp', 'v_screen', 'v_madmk', 'v_madak', 'v_cmpx', 'v_movrel', 'v_mbcnt', 'v_permlane')
def templates(name):
    dsts = ['v20', 'v[20:21]', 'vcc', 'v20, vcc', 'v[20:21], vcc']
    for n in (1, 2, 3, 0):
        for widths in itertools.product((32, 64), repeat=n):
            srcs = [f'v{2*i}' if w == 32 else f'v[{2*i}:{2*i+1}]' for i, w in enumerate(widths)]
            if name.startswith('v_div_scale'): srcs = [srcs[1], srcs[1], srcs[2]] if n == 3 else srcs
            for dst in dsts:
                for tail in ([], ['vcc']):
                    yield f'{name} ' + ', '.join([dst] + srcs + tail), dst, widths, bool(tail)

def source_kinds(name, widths):
    types = re.findall(r'(?:f64|f32|f16|[uib]64|[uib]32|[uib]24|[uib]16|[ui]8|[ui]4)', name)
    last = types[-1] if types else 'b32'
    out = []
    for i, w in enumerate(widths):
        if w == 64: k = 'f64' if 'f64' in name else ('f32x2' if 'pk' in name and 'f32' in name else 'b64')
        elif name.startswith('v_pk_') or name.startswith('v_dot2'): k = 'pk16'
        elif last == 'f32' or 'fma_mix' in name: k = 'f32'
        elif last == 'f16': k = 'f16'
        else: k = 'b32'
        if name.startswith('v_ldexp') and i == 1: k = 'exp'
        if 'class' in name and i == 1: k = 'class'
        if name.startswith('v_fmac_f64') or name.startswith('v_fma_f64'): k = 'f64'
        if name in ('v_pk_mov_b32',): k = 'b64'
        if name.startswith('v_dot2') and i == 2: k = 'f32' if 'f32' in name else 'b32'
        if name.startswith(('v_cvt_pk_u8_f32', 'v_cvt_pkaccum_u8')) and i > 0: k = 'b32'
        if name == 'v_trig_preop_f64' and i == 1: k = 'b32'
        if name.startswith('v_fma_mix') or name.startswith('v_mad_mix'): k = 'f32'
        if k == 'f32x2': k = 'b64'
        out.append(k)
    return out

def choose():
    """One form of each mnemonic: target, text, encodings for us and for the emulator."""
    chosen = {}
    for target in ('gfx900', 'gfx906', 'gfx908', 'gfx90a'):
        wanted = sorted(names() - set(chosen))
        wanted = [n for n in wanted if not n.startswith(SKIP)]
        lines, info = [], []
        for name in wanted:
            for text, dst, widths, vcc in templates(name):
                lines.append(text); info.append((name, dst, widths, vcc))
        good = assemble(lines, 'llvm-mc-15', target)
        for i in sorted(good):
            name, dst, widths, vcc = info[i]
            if name not in chosen: chosen[name] = dict(target=target, text=lines[i], ours=good[i], dst=dst, widths=widths, vcc=vcc)
    print('no form for', sorted(n for n in wanted if n not in chosen), file=sys.stderr)
    order = sorted(chosen)
    theirs = assemble([chosen[n]['text'] for n in order], 'llvm-mc-19', 'gfx942')
    for i, n in enumerate(order): chosen[n]['theirs'] = theirs.get(i)
    return chosen

VCC_IN = 0x0f5a_c3f0_96e1_7d28
OLD = [0xa5a5a5a5, 0x5a5a5a5a]

def ask(emu, case, wave):
    st = emu.WaveState(64, 64)
    for i, (kind, w) in enumerate(zip(case['kinds'], case['widths'])):
        for lane in range(64):
            v = ROWS[kind, i, wave][lane]
            st._write_vgpr(2 * i, lane, v & 0xffffffff)
            if w == 64: st._write_vgpr(2 * i + 1, lane, v >> 32)
    for lane in range(64):
        st._write_vgpr(20, lane, OLD[0]); st._write_vgpr(21, lane, OLD[1])
    st._write_sgpr(106, VCC_IN & 0xffffffff); st._write_sgpr(107, VCC_IN >> 32)
    code = (ctypes.c_char * 64).from_buffer_copy(case['theirs'] + b'\0' * (64 - len(case['theirs'])))
    (prg, runtime), inst = emu._decode_at(ctypes.addressof(code), 'cdna')
    bufs = [st.sgpr_buf, st.vgpr_buf, None, None, None, st.accvgpr_buf]
    c = [ctypes.c_uint64(b._buf.va_addr if b is not None else 0) for b in bufs]
    runtime.fxn(*[c[g] for g in prg.arg.globals])
    n = 2 if '[20:21]' in case['dst'] else 1 if 'v20' in case['dst'] else 0
    regs = [[st._read_vgpr(20 + k, lane) for lane in range(64)] for k in range(n)]
    mask = st._read_sgpr(106) | st._read_sgpr(107) << 32
    return regs, mask if 'vcc' in case['dst'] else None

def main():
    chosen = choose()
    from test.mockgpu.amd import emu
    out = open(sys.argv[2], 'w')
    used, lines, silent = set(), [], []
    for name in sorted(chosen):
        case = chosen[name]
        case['kinds'] = source_kinds(name, case['widths'])
        if case['theirs'] is None: silent.append((name, 'no encoding')); continue
        waves = 2 if len(case['widths']) > 1 else 1
        pid_r, pid_w = os.pipe()
        pid = os.fork()
        if pid == 0:   # it may crash
            os.close(pid_r)
            try:
                text = ''
                for wave in range(waves):
                    regs, mask = ask(emu, case, wave)
                    parts = [' '.join(f'{v:x}' for v in reg) for reg in regs]
                    if mask is not None: parts.append(f'm {mask:x}')
                    text += ''.join(f'{wave} {p}\n' for p in parts)
            except Exception as e:
                text = f'! {type(e).__name__} {str(e)[:150]}'.replace('\n', ' ')
            os.write(pid_w, text.encode()) if len(text) < 60000 else None
            os._exit(0)
        os.close(pid_w)
        text = b''
        while True:
            part = os.read(pid_r, 65536)
            if not part: break
            text += part
        os.close(pid_r); os.waitpid(pid, 0)
        text = text.decode()
        if not text or text.startswith('!'): silent.append((name, text)); continue
        words = [case['ours'][i:i+4][::-1].hex() for i in range(0, len(case['ours']), 4)]
        lines.append(f"op {name} {case['target']} {','.join(words)} {','.join(case['kinds'])}\n{text}")
        for i, k in enumerate(case['kinds']):
            used |= {(k, i, w) for w in range(waves)}
    for (kind, i, wave) in sorted(used):
        out.write(f"in {kind} {i} {wave} " + ' '.join(f'{v:x}' for v in ROWS[kind, i, wave]) + '\n')
    out.write(''.join(lines))
    for name, why in silent: print('silent', name, why, file=sys.stderr)
    print(len(lines), 'instructions', file=sys.stderr)
main()
