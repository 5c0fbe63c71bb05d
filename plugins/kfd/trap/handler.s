// The trap handler of waves, the second level behind that of the Linux kernel (cwsr_trap_handler_*.asm).
//
// What it is for: a wave that traps or does what it must not is to be reported, with the queue it belongs to, and is to
// stand still until the queue is destroyed. The kernel gets the report as an interrupt whose 24 bits of data are the
// number of the queue's doorbell (10 bits) and a bit for each exception, and hands it on to the run-time that asked for it
// (RUNTIME_ENABLE).
//
// At entry: ttmp0 and ttmp1 have the program counter, and in the upper half of ttmp1 the number of the trap; ttmp12 has
// the wave's STATUS. ttmp6, ttmp11 and ttmp13 hold what debuggers read and the kernel saves; ttmp2, ttmp3 and ttmp7 are
// free. A wave leaves with its program counter from ttmp0 and ttmp1.
//
// Assembled for gfx900, gfx940, gfx1010, gfx1030 and gfx1100 by plugins/kfd/tests/trap_handler.rs; facts from LLVM's
// AMDGPUUsage ("Trap Handler ABI") and the register descriptions of AMD's instruction set manuals.

.set GEN, .amdgcn.gfx_generation_number
.set MINOR, .amdgcn.gfx_generation_minor
.if GEN == 9 && MINOR >= 4
  .set IS_940, 1
.else
  .set IS_940, 0
.endif

// Numbers of traps, and where ttmp1 has them.
.set TRAP_OF_PC, 16 | 8 << 16
.set ABORT, 2
.set BREAKPOINT, 3
.set PC_HIGH, 0xffff

// Bits of the report.
.set DOORBELL, 0x3ff
.set SAYS_ABORT, 1 << 10
.set SAYS_TRAP, 1 << 11
.set SAYS_MATH, 1 << 12
.set SAYS_ILLEGAL, 1 << 13
.set SAYS_MEMORY, 1 << 14
.set SAYS_APERTURE, 1 << 15

// Bits of TRAPSTS, MODE and STATUS.
.set MATH_FLAGS, 0x7f
.set MATH_ENABLE, 12
.set VIOLATION, 8
.set ILLEGAL, 11
.set REPLAY_FAILED, 28
.set HALT, 13
.set SKIP_EXPORT, 18

// What debuggers find in ttmp6: the wave stands, whether it stood before, and the number of its trap.
.set STANDS, 30
.set STOOD, 29
.set TRAP_SEEN, 25
.set TRAP_SEEN_FIELD, TRAP_SEEN | 4 << 16

// A debugger is there.
.set DEBUGGED, 23

entry:
  // The host's interruptions are for profilers, of which there is none here.
  s_bitcmp1_b32 ttmp1, 24
  s_cbranch_scc1 leave
  s_bfe_u32 ttmp2, ttmp1, TRAP_OF_PC
  s_cbranch_scc0 look
  // The wave asked for it: it goes on behind the instruction.
  s_add_u32 ttmp0, ttmp0, 4
  s_addc_u32 ttmp1, ttmp1, 0
  s_cmp_lg_u32 ttmp2, BREAKPOINT
  s_cbranch_scc1 look
  // A breakpoint that nobody waits for is none.
.if IS_940
  s_bitcmp1_b32 ttmp13, DEBUGGED
.else
  s_bitcmp1_b32 ttmp11, DEBUGGED
.endif
  s_cbranch_scc0 leave

look:
  // For debuggers: the number of the trap, at most 15, and whether the wave stood.
  s_andn2_b32 ttmp6, ttmp6, 15 << TRAP_SEEN | 1 << STOOD
  s_bfe_u32 ttmp2, ttmp1, TRAP_OF_PC
  s_min_u32 ttmp2, ttmp2, 15
  s_lshl_b32 ttmp2, ttmp2, TRAP_SEEN
  s_or_b32 ttmp6, ttmp6, ttmp2
  s_bfe_u32 ttmp2, ttmp12, HALT | 1 << 16
  s_lshl_b32 ttmp2, ttmp2, STOOD
  s_or_b32 ttmp6, ttmp6, ttmp2

  // Whose queue it is. Before gfx11 the answer appears in EXEC, when its top bit goes.
.if GEN >= 11
  s_sendmsg_rtn_b32 ttmp3, sendmsg(MSG_RTN_GET_DOORBELL)
  s_waitcnt lgkmcnt(0)
.else
  s_mov_b32 ttmp2, exec_lo
  s_mov_b32 ttmp7, exec_hi
  s_brev_b32 exec_lo, 1
  s_sendmsg sendmsg(MSG_GET_DOORBELL)
answer:
  s_nop 7
  s_bitcmp1_b32 exec_lo, 31
  s_cbranch_scc1 answer
  s_mov_b32 ttmp3, exec_lo
  s_mov_b32 exec_lo, ttmp2
  s_mov_b32 exec_hi, ttmp7
.endif
  s_and_b32 ttmp3, ttmp3, DOORBELL

  // What happened. A fault whose replay failed is one of memory, not of an aperture.
  s_getreg_b32 ttmp2, hwreg(HW_REG_TRAPSTS)
  s_bitcmp1_b32 ttmp2, REPLAY_FAILED
  s_cbranch_scc0 aperture
  s_or_b32 ttmp3, ttmp3, SAYS_MEMORY
  s_branch illegal
aperture:
  s_bitcmp1_b32 ttmp2, VIOLATION
  s_cbranch_scc0 illegal
  s_or_b32 ttmp3, ttmp3, SAYS_APERTURE
illegal:
  s_bitcmp1_b32 ttmp2, ILLEGAL
  s_cbranch_scc0 math
  s_or_b32 ttmp3, ttmp3, SAYS_ILLEGAL
math:
  // Flags of arithmetic count where the wave enabled them.
  s_getreg_b32 ttmp7, hwreg(HW_REG_MODE)
  s_lshr_b32 ttmp7, ttmp7, MATH_ENABLE
  s_and_b32 ttmp2, ttmp2, ttmp7
  s_and_b32 ttmp2, ttmp2, MATH_FLAGS
  s_cbranch_scc0 abort
  s_or_b32 ttmp3, ttmp3, SAYS_MATH
abort:
  s_bfe_u32 ttmp2, ttmp6, TRAP_SEEN_FIELD
  s_cmp_eq_u32 ttmp2, ABORT
  s_cbranch_scc0 any
  s_or_b32 ttmp3, ttmp3, SAYS_ABORT
any:
  s_andn2_b32 ttmp2, ttmp3, DOORBELL
  s_cbranch_scc1 say
  s_or_b32 ttmp3, ttmp3, SAYS_TRAP
say:
  s_mov_b32 ttmp2, m0
  s_mov_b32 m0, ttmp3
  s_nop 0
  s_sendmsg sendmsg(MSG_INTERRUPT)
  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, ttmp2

  // Some chips go on to fetch where a wave that stands is: there it is put on instructions that are always there, and
  // debuggers find the address in ttmp7, and its upper half from bit 7 on in ttmp11.
.if (GEN == 9 && !IS_940) || (GEN == 10 && MINOR < 3) || GEN == 11
  s_mov_b32 ttmp7, ttmp0
  s_and_b32 ttmp1, ttmp1, PC_HIGH
  s_lshl_b32 ttmp1, ttmp1, 7
  s_andn2_b32 ttmp11, ttmp11, PC_HIGH << 7
  s_or_b32 ttmp11, ttmp11, ttmp1
  s_getpc_b64 [ttmp0, ttmp1]
here:
  s_add_u32 ttmp0, ttmp0, rest - here
  s_addc_u32 ttmp1, ttmp1, 0
.endif
  s_bitset1_b32 ttmp6, STANDS
  s_bitset1_b32 ttmp12, HALT
  s_bitset1_b32 ttmp12, SKIP_EXPORT
.if IS_940
  // Debuggers are told that these registers are good.
  s_bitcmp1_b32 ttmp11, 31
  s_cbranch_scc1 leave
  s_mov_b32 ttmp4, 0
  s_mov_b32 ttmp5, 0
  s_bitset0_b32 ttmp6, 31
  s_bitset1_b32 ttmp11, 31
.endif

leave:
  // What the kernel's part saved of the counters of faults under way, where a wave has them.
.if GEN == 9
.if IS_940
  s_lshr_b32 ttmp2, ttmp13, 26 - 15
.else
  s_lshr_b32 ttmp2, ttmp11, 26 - 15
.endif
  s_and_b32 ttmp2, ttmp2, 0x1f8000
  s_setreg_b32 hwreg(HW_REG_IB_STS), ttmp2
.elseif GEN == 10 && MINOR < 3
  s_lshr_b32 ttmp2, ttmp11, 24 - 15
  s_and_b32 ttmp2, ttmp2, 0x3f8000
  s_lshr_b32 ttmp3, ttmp11, 31 - 25
  s_and_b32 ttmp3, ttmp3, 0x2000000
  s_or_b32 ttmp2, ttmp2, ttmp3
  s_setreg_b32 hwreg(HW_REG_IB_STS), ttmp2
.endif
  // Setting STATUS does not set its bits about EXEC and VCC; these instructions do.
  s_and_b64 exec, exec, exec
  s_and_b64 vcc, vcc, vcc
  s_setreg_b32 hwreg(HW_REG_STATUS), ttmp12
  s_rfe_b64 [ttmp0, ttmp1]

rest:
  s_trap ABORT
  s_branch rest

  // Fetches run ahead of the end.
.rept 64
.if GEN >= 10
  s_code_end
.else
  s_nop 0
.endif
.endr
