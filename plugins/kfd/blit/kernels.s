// Kernels that copy and fill memory, for devices whose copy engines are not used.
//
// Every kernel has these arguments:
//
//    0  where to write, 64 bits
//    8  where to read, 64 bits; of the fill the word to write, 32 bits
//   16  bytes, 32 bits, a multiple of the kernel's unit
//   20  bytes from one unit of a work-item to its next: the units of all work-items together, 32 bits
//
// A work-group has 256 work-items in one dimension. Work-item I moves unit I, and goes on by the last argument until
// there is no unit left. Bytes and that argument together stay below 4 GiB, so that offsets fit a vector register.
//
// Assembled for one processor of each generation by plugins/kfd/tests/code.rs and linked by kernels.ld: the image begins
// with the kernels' descriptors, 64 bytes each, in the order of this file, and may lie at any page. Facts from LLVM's
// AMDGPUUsage ("Kernel Descriptor", "Initial Kernel Execution State") and AMD's instruction set manuals.

.set GEN, .amdgcn.gfx_generation_number
.set MINOR, .amdgcn.gfx_generation_minor
.set STEP, .amdgcn.gfx_generation_stepping
// Processors whose vector registers are shared with accumulation registers.
.if GEN == 9 && (MINOR >= 4 || STEP == 10)
  .set IS_UNIFIED, 1
.else
  .set IS_UNIFIED, 0
.endif
// log2 of the work-items of a group.
.set GROUP, 8

// v1: the work-item's offset. s4, s5: where to write; s6, s7: where to read, or s6 the word; s8, s9: the other arguments.
.macro begin log2
.if GEN >= 12
  s_load_b128 s[4:7], s[0:1], 0
  s_load_b64 s[8:9], s[0:1], 16
  s_lshl_b32 s2, ttmp9, GROUP + \log2
.else
  s_load_dwordx4 s[4:7], s[0:1], 0
  s_load_dwordx2 s[8:9], s[0:1], 16
  s_lshl_b32 s2, s2, GROUP + \log2
.endif
  v_lshlrev_b32 v1, \log2, v0
  forward s2
.if GEN >= 12
  s_wait_kmcnt 0
.else
  s_waitcnt lgkmcnt(0)
.endif
.endm

// Moves the offset.
.macro forward by
.if GEN >= 10
  v_add_nc_u32 v1, \by, v1
.elseif GEN == 9
  v_add_u32 v1, \by, v1
.else
  v_add_u32 v1, vcc, \by, v1
.endif
.endm

// Leaves the work-items to it that have a unit left.
.macro check done
.if GEN >= 10
  v_cmp_gt_u32 vcc_lo, s8, v1
.if GEN >= 12
  s_wait_alu 0
.endif
  s_and_b32 exec_lo, exec_lo, vcc_lo
.else
  v_cmp_gt_u32 vcc, s8, v1
  s_and_b64 exec, exec, vcc
.endif
  s_cbranch_execz \done
.endm

// Before gfx9 memory has no form with a scalar base: the address goes to two vector registers.
.macro address low, high, base_low, base_high
  v_mov_b32 \high, \base_high
  v_add_u32 \low, vcc, \base_low, v1
  v_addc_u32 \high, vcc, 0, \high, vcc
.endm

.macro arrived
.if GEN >= 12
  s_wait_loadcnt 0
.elseif GEN >= 9
  s_waitcnt vmcnt(0)
.else
  s_waitcnt vmcnt(0) & lgkmcnt(0)
.endif
.endm

.macro end
  s_endpgm
  // Fetches run ahead of the end.
.rept 64
.if GEN >= 10
  s_code_end
.else
  s_nop 0
.endif
.endr
.endm

.macro copy name, log2, old_load, old_store, new_load, new_store, data
.text
.p2align 8
\name:
  begin \log2
\name\()_next:
  check \name\()_done
.if GEN >= 11
  global_load_\new_load \data, v1, s[6:7]
  arrived
  global_store_\new_store v1, \data, s[4:5]
.elseif GEN >= 9
  global_load_\old_load \data, v1, s[6:7]
  arrived
  global_store_\old_store v1, \data, s[4:5]
.else
  address v2, v3, s6, s7
  flat_load_\old_load \data, v[2:3]
  address v2, v3, s4, s5
  arrived
  flat_store_\old_store v[2:3], \data
.endif
  forward s9
  s_branch \name\()_next
\name\()_done:
  end
  describe \name
.endm

.macro fill name
.text
.p2align 8
\name:
  begin 2
  v_mov_b32 v4, s6
\name\()_next:
  check \name\()_done
.if GEN >= 11
  global_store_b32 v1, v4, s[4:5]
.elseif GEN >= 9
  global_store_dword v1, v4, s[4:5]
.else
  address v2, v3, s4, s5
  flat_store_dword v[2:3], v4
.endif
  forward s9
  s_branch \name\()_next
\name\()_done:
  end
  describe \name
.endm

.macro describe name
.if GEN >= 10
  descriptor \name, ".amdhsa_wavefront_size32 1"
.elseif IS_UNIFIED
  descriptor \name, ".amdhsa_accum_offset 8"
.else
  descriptor \name
.endif
.endm

.macro descriptor name, further
.rodata
.p2align 6
.amdhsa_kernel \name
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 24
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_vgpr_workitem_id 0
  .amdhsa_next_free_sgpr 16
  .amdhsa_next_free_vgpr 8
  \further
.end_amdhsa_kernel
.endm

copy copy_16, 4, dwordx4, dwordx4, b128, b128, v[4:7]
copy copy_4, 2, dword, dword, b32, b32, v4
copy copy_1, 0, ubyte, byte, u8, b8, v4
fill fill_4
