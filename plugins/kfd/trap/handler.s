// The trap handler of waves, the second level behind that of the Linux kernel (cwsr_trap_handler_*.asm).
//
// What it is for: a wave that traps or does what it must not is to be reported, with the queue it belongs to, and is to
// stand still until the queue is destroyed. The kernel gets the report as an interrupt whose 24 bits of data are the
// number of the queue's doorbell (10 bits) and a bit for each exception, and hands it on to the run-time that asked for it
// (RUNTIME_ENABLE).
//
// At entry: ttmp0 and ttmp1 have the program counter, and in the upper half of ttmp1 the number of the trap; ttmp12 has
// the wave's STATUS, from gfx12 on STATE_PRIV. ttmp6, ttmp11 and ttmp13 hold what debuggers read and the kernel saves; ttmp2,
// ttmp3 and ttmp7 are free, from gfx12 on, where ttmp7 to ttmp9 number the work-group, ttmp2, ttmp3, ttmp10 and ttmp13. A wave
// leaves with its program counter from ttmp0 and ttmp1.
//
// Assembled for gfx900, gfx940, gfx1010, gfx1030, gfx1100 and gfx1200 by plugins/kfd/tests/code.rs; facts from LLVM's
// AMDGPUUsage ("Trap Handler ABI"), the register descriptions of AMD's instruction set manuals, and for gfx12 Linux
// (cwsr_trap_handler_gfx12.asm) and the second level of ROCr (trap_handler_gfx12.s).

.set GEN, .amdgcn.gfx_generation_number
.set MINOR, .amdgcn.gfx_generation_minor
.if GEN == 9 && MINOR >= 4
  .set IS_940, 1
.else
  .set IS_940, 0
.endif

// Numbers of traps, and where ttmp1 has them.
.if GEN >= 12
  .set TRAP_OF_PC, 28 | 4 << 16
.else
  .set TRAP_OF_PC, 16 | 8 << 16
.endif
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
.set SKIP_EXPORT, 18
// And of STATE_PRIV and EXCP_FLAG_PRIV, which have some of that from gfx12 on.
.set PRIV_SLEEPS, 1
.set PRIV_SCC, 9
.set PRIV_VIOLATION, 4
.set PRIV_ILLEGAL, 6
.set PRIV_HOST_TRAP, 7
.set PRIV_SNAPSHOT, 10
.set PRIV_REPLAY_FAILED, 12
.if GEN >= 12
  .set HALT, 14
.else
  .set HALT, 13
.endif

// The register of the mode of scheduling (WAVE_SCHED_MODE), and where ttmp11 has the wave's.
.set SCHED_MODE, 26
.set SCHED_MODE_OF_WAVE, 26 | 2 << 16

// What debuggers find in ttmp6: the wave stands, whether it stood before, and the number of its trap.
.set STANDS, 30
.set STOOD, 29
.set TRAP_SEEN, 25
.set TRAP_SEEN_FIELD, TRAP_SEEN | 4 << 16

// A debugger is there.
.set DEBUGGED, 23

.macro arrived
.if GEN >= 12
  s_wait_kmcnt 0
.else
  s_waitcnt lgkmcnt(0)
.endif
.endm

entry:
  // The host's interruptions are for profilers, of which there is none here.
.if GEN >= 12
  s_getreg_b32 ttmp2, hwreg(HW_REG_EXCP_FLAG_PRIV)
  s_and_b32 ttmp2, ttmp2, 1 << PRIV_HOST_TRAP | 1 << PRIV_SNAPSHOT
  s_cbranch_scc1 interrupted
.else
  s_bitcmp1_b32 ttmp1, 24
  s_cbranch_scc1 leave
.endif
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
  arrived
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
.if GEN >= 12
  s_getreg_b32 ttmp2, hwreg(HW_REG_EXCP_FLAG_PRIV)
  s_bitcmp1_b32 ttmp2, PRIV_REPLAY_FAILED
.else
  s_getreg_b32 ttmp2, hwreg(HW_REG_TRAPSTS)
  s_bitcmp1_b32 ttmp2, REPLAY_FAILED
.endif
  s_cbranch_scc0 aperture
  s_or_b32 ttmp3, ttmp3, SAYS_MEMORY
  s_branch illegal
aperture:
.if GEN >= 12
  s_bitcmp1_b32 ttmp2, PRIV_VIOLATION
.else
  s_bitcmp1_b32 ttmp2, VIOLATION
.endif
  s_cbranch_scc0 illegal
  s_or_b32 ttmp3, ttmp3, SAYS_APERTURE
illegal:
.if GEN >= 12
  s_bitcmp1_b32 ttmp2, PRIV_ILLEGAL
.else
  s_bitcmp1_b32 ttmp2, ILLEGAL
.endif
  s_cbranch_scc0 math
  s_or_b32 ttmp3, ttmp3, SAYS_ILLEGAL
math:
  // Flags of arithmetic count where the wave enabled them.
.if GEN >= 12
  s_getreg_b32 ttmp2, hwreg(HW_REG_EXCP_FLAG_USER)
  s_getreg_b32 ttmp13, hwreg(HW_REG_TRAP_CTRL)
  s_and_b32 ttmp2, ttmp2, ttmp13
.else
  s_getreg_b32 ttmp7, hwreg(HW_REG_MODE)
  s_lshr_b32 ttmp7, ttmp7, MATH_ENABLE
  s_and_b32 ttmp2, ttmp2, ttmp7
.endif
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
  arrived
  s_mov_b32 m0, ttmp2

  // Some chips go on to fetch where a wave that stands is: there it is put on instructions that are always there, and
  // debuggers find the address in ttmp7 (from gfx12 on ttmp10), and its upper half from bit 7 on in ttmp11.
.if (GEN == 9 && !IS_940) || (GEN == 10 && MINOR < 3) || GEN >= 11
.if GEN >= 12
  s_mov_b32 ttmp10, ttmp0
.else
  s_mov_b32 ttmp7, ttmp0
.endif
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
.if GEN >= 12
  s_setreg_imm32_b32 hwreg(HW_REG_STATE_PRIV, HALT, 1), 1
  // Debuggers are told that these registers are good.
  s_bitcmp1_b32 ttmp8, 31
  s_cbranch_scc1 leave
  s_mov_b32 ttmp4, 0
  s_mov_b32 ttmp5, 0
  s_bitset1_b32 ttmp8, 31
.else
  s_bitset1_b32 ttmp12, HALT
  s_bitset1_b32 ttmp12, SKIP_EXPORT
.endif
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
.if GEN >= 12
  s_bfe_u32 ttmp2, ttmp12, PRIV_SCC | 1 << 16
  s_bfe_u32 ttmp3, ttmp12, PRIV_SLEEPS | 1 << 16
  s_bfe_u32 ttmp13, ttmp11, SCHED_MODE_OF_WAVE
  s_setreg_b32 hwreg(HW_REG_STATE_PRIV, PRIV_SCC, 1), ttmp2
  s_setreg_b32 hwreg(HW_REG_STATE_PRIV, PRIV_SLEEPS, 1), ttmp3
  // Last the mode of scheduling, which the kernel's part set to the one that is always right.
  s_setreg_b32 hwreg(SCHED_MODE, 0, 2), ttmp13
.else
  s_setreg_b32 hwreg(HW_REG_STATUS), ttmp12
.endif
  s_rfe_b64 [ttmp0, ttmp1]

.if GEN >= 12
interrupted:
  // Nobody asked for it; the flags are taken back.
  s_setreg_imm32_b32 hwreg(HW_REG_EXCP_FLAG_PRIV, PRIV_HOST_TRAP, 1), 0
  s_setreg_imm32_b32 hwreg(HW_REG_EXCP_FLAG_PRIV, PRIV_SNAPSHOT, 1), 0
  s_branch leave
.endif

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
