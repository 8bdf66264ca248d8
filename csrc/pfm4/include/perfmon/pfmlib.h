/*
 * libpfm 4.13.0: event strings to event codes.
 *
 * Names, values, layouts and return codes are those of libpfm 4.13.0, so that a
 * program written for it compiles and runs unchanged.  The structures carry
 * their own size: set size to 0 or to sizeof() before a call.
 */
#ifndef __PFMLIB_H__
#define __PFMLIB_H__

#include <sys/types.h>
#include <unistd.h>
#include <inttypes.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LIBPFM_VERSION (4 << 16 | 0)
#define PFM_MAJ_VERSION(v) ((v) >> 16)
#define PFM_MIN_VERSION(v) ((v) & 0xffff)
#define LIBPFM_ABI_VERSION 0

/* Members that have no name in C, which C99 and C++ want to be told of, have one for SWIG. */
#ifdef SWIG
#define SWIG_NAME(x) x
#define SWIG_ANONYMOUS
#else
#define SWIG_NAME(x)
#define SWIG_ANONYMOUS __extension__
#endif

/* Privilege levels: bits of dfl_plm. */
#define PFM_PLM0 0x01 /* kernel */
#define PFM_PLM1 0x02
#define PFM_PLM2 0x04
#define PFM_PLM3 0x08 /* user */
#define PFM_PLMH 0x10 /* hypervisor */

/** Identifier of a PMU.  glm, perf and perf_raw are implemented: pfm_get_pmu_info() returns
 *  PFM_ERR_NOTSUPP for the others. */
typedef enum {
	PFM_PMU_NONE = 0,
	PFM_PMU_GEN_IA64 = 1,
	PFM_PMU_ITANIUM = 2,
	PFM_PMU_ITANIUM2 = 3,
	PFM_PMU_MONTECITO = 4,
	PFM_PMU_AMD64 = 5,
	PFM_PMU_I386_P6 = 6,
	PFM_PMU_INTEL_NETBURST = 7,
	PFM_PMU_INTEL_NETBURST_P = 8,
	PFM_PMU_COREDUO = 9,
	PFM_PMU_I386_PM = 10,
	PFM_PMU_INTEL_CORE = 11,
	PFM_PMU_INTEL_PPRO = 12,
	PFM_PMU_INTEL_PII = 13,
	PFM_PMU_INTEL_ATOM = 14,
	PFM_PMU_INTEL_NHM = 15,
	PFM_PMU_INTEL_NHM_EX = 16,
	PFM_PMU_INTEL_NHM_UNC = 17,
	PFM_PMU_INTEL_X86_ARCH = 18,
	PFM_PMU_MIPS_20KC = 19,
	PFM_PMU_MIPS_24K = 20,
	PFM_PMU_MIPS_25KF = 21,
	PFM_PMU_MIPS_34K = 22,
	PFM_PMU_MIPS_5KC = 23,
	PFM_PMU_MIPS_74K = 24,
	PFM_PMU_MIPS_R10000 = 25,
	PFM_PMU_MIPS_R12000 = 26,
	PFM_PMU_MIPS_RM7000 = 27,
	PFM_PMU_MIPS_RM9000 = 28,
	PFM_PMU_MIPS_SB1 = 29,
	PFM_PMU_MIPS_VR5432 = 30,
	PFM_PMU_MIPS_VR5500 = 31,
	PFM_PMU_MIPS_ICE9A = 32,
	PFM_PMU_MIPS_ICE9B = 33,
	PFM_PMU_POWERPC = 34,
	PFM_PMU_CELL = 35,
	PFM_PMU_SPARC_ULTRA12 = 36,
	PFM_PMU_SPARC_ULTRA3 = 37,
	PFM_PMU_SPARC_ULTRA3I = 38,
	PFM_PMU_SPARC_ULTRA3PLUS = 39,
	PFM_PMU_SPARC_ULTRA4PLUS = 40,
	PFM_PMU_SPARC_NIAGARA1 = 41,
	PFM_PMU_SPARC_NIAGARA2 = 42,
	PFM_PMU_PPC970 = 43,
	PFM_PMU_PPC970MP = 44,
	PFM_PMU_POWER3 = 45,
	PFM_PMU_POWER4 = 46,
	PFM_PMU_POWER5 = 47,
	PFM_PMU_POWER5p = 48,
	PFM_PMU_POWER6 = 49,
	PFM_PMU_POWER7 = 50,
	PFM_PMU_PERF_EVENT = 51,
	PFM_PMU_INTEL_WSM = 52,
	PFM_PMU_INTEL_WSM_DP = 53,
	PFM_PMU_INTEL_WSM_UNC = 54,
	PFM_PMU_AMD64_K7 = 55,
	PFM_PMU_AMD64_K8_REVB = 56,
	PFM_PMU_AMD64_K8_REVC = 57,
	PFM_PMU_AMD64_K8_REVD = 58,
	PFM_PMU_AMD64_K8_REVE = 59,
	PFM_PMU_AMD64_K8_REVF = 60,
	PFM_PMU_AMD64_K8_REVG = 61,
	PFM_PMU_AMD64_FAM10H_BARCELONA = 62,
	PFM_PMU_AMD64_FAM10H_SHANGHAI = 63,
	PFM_PMU_AMD64_FAM10H_ISTANBUL = 64,
	PFM_PMU_ARM_CORTEX_A8 = 65,
	PFM_PMU_ARM_CORTEX_A9 = 66,
	PFM_PMU_TORRENT = 67,
	PFM_PMU_INTEL_SNB = 68,
	PFM_PMU_AMD64_FAM14H_BOBCAT = 69,
	PFM_PMU_AMD64_FAM15H_INTERLAGOS = 70,
	PFM_PMU_INTEL_SNB_EP = 71,
	PFM_PMU_AMD64_FAM12H_LLANO = 72,
	PFM_PMU_AMD64_FAM11H_TURION = 73,
	PFM_PMU_INTEL_IVB = 74,
	PFM_PMU_ARM_CORTEX_A15 = 75,
	PFM_PMU_INTEL_SNB_UNC_CB0 = 76,
	PFM_PMU_INTEL_SNB_UNC_CB1 = 77,
	PFM_PMU_INTEL_SNB_UNC_CB2 = 78,
	PFM_PMU_INTEL_SNB_UNC_CB3 = 79,
	PFM_PMU_INTEL_SNBEP_UNC_CB0 = 80,
	PFM_PMU_INTEL_SNBEP_UNC_CB1 = 81,
	PFM_PMU_INTEL_SNBEP_UNC_CB2 = 82,
	PFM_PMU_INTEL_SNBEP_UNC_CB3 = 83,
	PFM_PMU_INTEL_SNBEP_UNC_CB4 = 84,
	PFM_PMU_INTEL_SNBEP_UNC_CB5 = 85,
	PFM_PMU_INTEL_SNBEP_UNC_CB6 = 86,
	PFM_PMU_INTEL_SNBEP_UNC_CB7 = 87,
	PFM_PMU_INTEL_SNBEP_UNC_HA = 88,
	PFM_PMU_INTEL_SNBEP_UNC_IMC0 = 89,
	PFM_PMU_INTEL_SNBEP_UNC_IMC1 = 90,
	PFM_PMU_INTEL_SNBEP_UNC_IMC2 = 91,
	PFM_PMU_INTEL_SNBEP_UNC_IMC3 = 92,
	PFM_PMU_INTEL_SNBEP_UNC_PCU = 93,
	PFM_PMU_INTEL_SNBEP_UNC_QPI0 = 94,
	PFM_PMU_INTEL_SNBEP_UNC_QPI1 = 95,
	PFM_PMU_INTEL_SNBEP_UNC_UBOX = 96,
	PFM_PMU_INTEL_SNBEP_UNC_R2PCIE = 97,
	PFM_PMU_INTEL_SNBEP_UNC_R3QPI0 = 98,
	PFM_PMU_INTEL_SNBEP_UNC_R3QPI1 = 99,
	PFM_PMU_INTEL_KNC = 100,
	PFM_PMU_S390X_CPUM_CF = 101,
	PFM_PMU_ARM_1176 = 102,
	PFM_PMU_INTEL_IVB_EP = 103,
	PFM_PMU_INTEL_HSW = 104,
	PFM_PMU_INTEL_IVB_UNC_CB0 = 105,
	PFM_PMU_INTEL_IVB_UNC_CB1 = 106,
	PFM_PMU_INTEL_IVB_UNC_CB2 = 107,
	PFM_PMU_INTEL_IVB_UNC_CB3 = 108,
	PFM_PMU_POWER8 = 109,
	PFM_PMU_INTEL_RAPL = 110,
	PFM_PMU_INTEL_SLM = 111,
	PFM_PMU_AMD64_FAM15H_NB = 112,
	PFM_PMU_ARM_QCOM_KRAIT = 113,
	PFM_PMU_PERF_EVENT_RAW = 114,
	PFM_PMU_INTEL_IVBEP_UNC_CB0 = 115,
	PFM_PMU_INTEL_IVBEP_UNC_CB1 = 116,
	PFM_PMU_INTEL_IVBEP_UNC_CB2 = 117,
	PFM_PMU_INTEL_IVBEP_UNC_CB3 = 118,
	PFM_PMU_INTEL_IVBEP_UNC_CB4 = 119,
	PFM_PMU_INTEL_IVBEP_UNC_CB5 = 120,
	PFM_PMU_INTEL_IVBEP_UNC_CB6 = 121,
	PFM_PMU_INTEL_IVBEP_UNC_CB7 = 122,
	PFM_PMU_INTEL_IVBEP_UNC_CB8 = 123,
	PFM_PMU_INTEL_IVBEP_UNC_CB9 = 124,
	PFM_PMU_INTEL_IVBEP_UNC_CB10 = 125,
	PFM_PMU_INTEL_IVBEP_UNC_CB11 = 126,
	PFM_PMU_INTEL_IVBEP_UNC_CB12 = 127,
	PFM_PMU_INTEL_IVBEP_UNC_CB13 = 128,
	PFM_PMU_INTEL_IVBEP_UNC_CB14 = 129,
	PFM_PMU_INTEL_IVBEP_UNC_HA0 = 130,
	PFM_PMU_INTEL_IVBEP_UNC_HA1 = 131,
	PFM_PMU_INTEL_IVBEP_UNC_IMC0 = 132,
	PFM_PMU_INTEL_IVBEP_UNC_IMC1 = 133,
	PFM_PMU_INTEL_IVBEP_UNC_IMC2 = 134,
	PFM_PMU_INTEL_IVBEP_UNC_IMC3 = 135,
	PFM_PMU_INTEL_IVBEP_UNC_IMC4 = 136,
	PFM_PMU_INTEL_IVBEP_UNC_IMC5 = 137,
	PFM_PMU_INTEL_IVBEP_UNC_IMC6 = 138,
	PFM_PMU_INTEL_IVBEP_UNC_IMC7 = 139,
	PFM_PMU_INTEL_IVBEP_UNC_PCU = 140,
	PFM_PMU_INTEL_IVBEP_UNC_QPI0 = 141,
	PFM_PMU_INTEL_IVBEP_UNC_QPI1 = 142,
	PFM_PMU_INTEL_IVBEP_UNC_QPI2 = 143,
	PFM_PMU_INTEL_IVBEP_UNC_UBOX = 144,
	PFM_PMU_INTEL_IVBEP_UNC_R2PCIE = 145,
	PFM_PMU_INTEL_IVBEP_UNC_R3QPI0 = 146,
	PFM_PMU_INTEL_IVBEP_UNC_R3QPI1 = 147,
	PFM_PMU_INTEL_IVBEP_UNC_R3QPI2 = 148,
	PFM_PMU_INTEL_IVBEP_UNC_IRP = 149,
	PFM_PMU_S390X_CPUM_SF = 150,
	PFM_PMU_ARM_CORTEX_A57 = 151,
	PFM_PMU_ARM_CORTEX_A53 = 152,
	PFM_PMU_ARM_CORTEX_A7 = 153,
	PFM_PMU_INTEL_HSW_EP = 154,
	PFM_PMU_INTEL_BDW = 155,
	PFM_PMU_ARM_XGENE = 156,
	PFM_PMU_INTEL_HSWEP_UNC_CB0 = 157,
	PFM_PMU_INTEL_HSWEP_UNC_CB1 = 158,
	PFM_PMU_INTEL_HSWEP_UNC_CB2 = 159,
	PFM_PMU_INTEL_HSWEP_UNC_CB3 = 160,
	PFM_PMU_INTEL_HSWEP_UNC_CB4 = 161,
	PFM_PMU_INTEL_HSWEP_UNC_CB5 = 162,
	PFM_PMU_INTEL_HSWEP_UNC_CB6 = 163,
	PFM_PMU_INTEL_HSWEP_UNC_CB7 = 164,
	PFM_PMU_INTEL_HSWEP_UNC_CB8 = 165,
	PFM_PMU_INTEL_HSWEP_UNC_CB9 = 166,
	PFM_PMU_INTEL_HSWEP_UNC_CB10 = 167,
	PFM_PMU_INTEL_HSWEP_UNC_CB11 = 168,
	PFM_PMU_INTEL_HSWEP_UNC_CB12 = 169,
	PFM_PMU_INTEL_HSWEP_UNC_CB13 = 170,
	PFM_PMU_INTEL_HSWEP_UNC_CB14 = 171,
	PFM_PMU_INTEL_HSWEP_UNC_CB15 = 172,
	PFM_PMU_INTEL_HSWEP_UNC_CB16 = 173,
	PFM_PMU_INTEL_HSWEP_UNC_CB17 = 174,
	PFM_PMU_INTEL_HSWEP_UNC_HA0 = 175,
	PFM_PMU_INTEL_HSWEP_UNC_HA1 = 176,
	PFM_PMU_INTEL_HSWEP_UNC_IMC0 = 177,
	PFM_PMU_INTEL_HSWEP_UNC_IMC1 = 178,
	PFM_PMU_INTEL_HSWEP_UNC_IMC2 = 179,
	PFM_PMU_INTEL_HSWEP_UNC_IMC3 = 180,
	PFM_PMU_INTEL_HSWEP_UNC_IMC4 = 181,
	PFM_PMU_INTEL_HSWEP_UNC_IMC5 = 182,
	PFM_PMU_INTEL_HSWEP_UNC_IMC6 = 183,
	PFM_PMU_INTEL_HSWEP_UNC_IMC7 = 184,
	PFM_PMU_INTEL_HSWEP_UNC_PCU = 185,
	PFM_PMU_INTEL_HSWEP_UNC_QPI0 = 186,
	PFM_PMU_INTEL_HSWEP_UNC_QPI1 = 187,
	PFM_PMU_INTEL_HSWEP_UNC_UBOX = 188,
	PFM_PMU_INTEL_HSWEP_UNC_R2PCIE = 189,
	PFM_PMU_INTEL_HSWEP_UNC_R3QPI0 = 190,
	PFM_PMU_INTEL_HSWEP_UNC_R3QPI1 = 191,
	PFM_PMU_INTEL_HSWEP_UNC_R3QPI2 = 192,
	PFM_PMU_INTEL_HSWEP_UNC_IRP = 193,
	PFM_PMU_INTEL_HSWEP_UNC_SB0 = 194,
	PFM_PMU_INTEL_HSWEP_UNC_SB1 = 195,
	PFM_PMU_INTEL_HSWEP_UNC_SB2 = 196,
	PFM_PMU_INTEL_HSWEP_UNC_SB3 = 197,
	PFM_PMU_POWERPC_NEST_MCS_READ_BW = 198,
	PFM_PMU_POWERPC_NEST_MCS_WRITE_BW = 199,
	PFM_PMU_INTEL_SKL = 200,
	PFM_PMU_INTEL_BDW_EP = 201,
	PFM_PMU_INTEL_GLM = 202,
	PFM_PMU_INTEL_KNL = 203,
	PFM_PMU_INTEL_KNL_UNC_IMC0 = 204,
	PFM_PMU_INTEL_KNL_UNC_IMC1 = 205,
	PFM_PMU_INTEL_KNL_UNC_IMC2 = 206,
	PFM_PMU_INTEL_KNL_UNC_IMC3 = 207,
	PFM_PMU_INTEL_KNL_UNC_IMC4 = 208,
	PFM_PMU_INTEL_KNL_UNC_IMC5 = 209,
	PFM_PMU_INTEL_KNL_UNC_IMC_UCLK0 = 210,
	PFM_PMU_INTEL_KNL_UNC_IMC_UCLK1 = 211,
	PFM_PMU_INTEL_KNL_UNC_EDC_ECLK0 = 212,
	PFM_PMU_INTEL_KNL_UNC_EDC_ECLK1 = 213,
	PFM_PMU_INTEL_KNL_UNC_EDC_ECLK2 = 214,
	PFM_PMU_INTEL_KNL_UNC_EDC_ECLK3 = 215,
	PFM_PMU_INTEL_KNL_UNC_EDC_ECLK4 = 216,
	PFM_PMU_INTEL_KNL_UNC_EDC_ECLK5 = 217,
	PFM_PMU_INTEL_KNL_UNC_EDC_ECLK6 = 218,
	PFM_PMU_INTEL_KNL_UNC_EDC_ECLK7 = 219,
	PFM_PMU_INTEL_KNL_UNC_EDC_UCLK0 = 220,
	PFM_PMU_INTEL_KNL_UNC_EDC_UCLK1 = 221,
	PFM_PMU_INTEL_KNL_UNC_EDC_UCLK2 = 222,
	PFM_PMU_INTEL_KNL_UNC_EDC_UCLK3 = 223,
	PFM_PMU_INTEL_KNL_UNC_EDC_UCLK4 = 224,
	PFM_PMU_INTEL_KNL_UNC_EDC_UCLK5 = 225,
	PFM_PMU_INTEL_KNL_UNC_EDC_UCLK6 = 226,
	PFM_PMU_INTEL_KNL_UNC_EDC_UCLK7 = 227,
	PFM_PMU_INTEL_KNL_UNC_CHA0 = 228,
	PFM_PMU_INTEL_KNL_UNC_CHA1 = 229,
	PFM_PMU_INTEL_KNL_UNC_CHA2 = 230,
	PFM_PMU_INTEL_KNL_UNC_CHA3 = 231,
	PFM_PMU_INTEL_KNL_UNC_CHA4 = 232,
	PFM_PMU_INTEL_KNL_UNC_CHA5 = 233,
	PFM_PMU_INTEL_KNL_UNC_CHA6 = 234,
	PFM_PMU_INTEL_KNL_UNC_CHA7 = 235,
	PFM_PMU_INTEL_KNL_UNC_CHA8 = 236,
	PFM_PMU_INTEL_KNL_UNC_CHA9 = 237,
	PFM_PMU_INTEL_KNL_UNC_CHA10 = 238,
	PFM_PMU_INTEL_KNL_UNC_CHA11 = 239,
	PFM_PMU_INTEL_KNL_UNC_CHA12 = 240,
	PFM_PMU_INTEL_KNL_UNC_CHA13 = 241,
	PFM_PMU_INTEL_KNL_UNC_CHA14 = 242,
	PFM_PMU_INTEL_KNL_UNC_CHA15 = 243,
	PFM_PMU_INTEL_KNL_UNC_CHA16 = 244,
	PFM_PMU_INTEL_KNL_UNC_CHA17 = 245,
	PFM_PMU_INTEL_KNL_UNC_CHA18 = 246,
	PFM_PMU_INTEL_KNL_UNC_CHA19 = 247,
	PFM_PMU_INTEL_KNL_UNC_CHA20 = 248,
	PFM_PMU_INTEL_KNL_UNC_CHA21 = 249,
	PFM_PMU_INTEL_KNL_UNC_CHA22 = 250,
	PFM_PMU_INTEL_KNL_UNC_CHA23 = 251,
	PFM_PMU_INTEL_KNL_UNC_CHA24 = 252,
	PFM_PMU_INTEL_KNL_UNC_CHA25 = 253,
	PFM_PMU_INTEL_KNL_UNC_CHA26 = 254,
	PFM_PMU_INTEL_KNL_UNC_CHA27 = 255,
	PFM_PMU_INTEL_KNL_UNC_CHA28 = 256,
	PFM_PMU_INTEL_KNL_UNC_CHA29 = 257,
	PFM_PMU_INTEL_KNL_UNC_CHA30 = 258,
	PFM_PMU_INTEL_KNL_UNC_CHA31 = 259,
	PFM_PMU_INTEL_KNL_UNC_CHA32 = 260,
	PFM_PMU_INTEL_KNL_UNC_CHA33 = 261,
	PFM_PMU_INTEL_KNL_UNC_CHA34 = 262,
	PFM_PMU_INTEL_KNL_UNC_CHA35 = 263,
	PFM_PMU_INTEL_KNL_UNC_CHA36 = 264,
	PFM_PMU_INTEL_KNL_UNC_CHA37 = 265,
	PFM_PMU_INTEL_KNL_UNC_UBOX = 266,
	PFM_PMU_INTEL_KNL_UNC_M2PCIE = 267,
	PFM_PMU_POWER9 = 268,
	PFM_PMU_INTEL_BDX_UNC_CB0 = 269,
	PFM_PMU_INTEL_BDX_UNC_CB1 = 270,
	PFM_PMU_INTEL_BDX_UNC_CB2 = 271,
	PFM_PMU_INTEL_BDX_UNC_CB3 = 272,
	PFM_PMU_INTEL_BDX_UNC_CB4 = 273,
	PFM_PMU_INTEL_BDX_UNC_CB5 = 274,
	PFM_PMU_INTEL_BDX_UNC_CB6 = 275,
	PFM_PMU_INTEL_BDX_UNC_CB7 = 276,
	PFM_PMU_INTEL_BDX_UNC_CB8 = 277,
	PFM_PMU_INTEL_BDX_UNC_CB9 = 278,
	PFM_PMU_INTEL_BDX_UNC_CB10 = 279,
	PFM_PMU_INTEL_BDX_UNC_CB11 = 280,
	PFM_PMU_INTEL_BDX_UNC_CB12 = 281,
	PFM_PMU_INTEL_BDX_UNC_CB13 = 282,
	PFM_PMU_INTEL_BDX_UNC_CB14 = 283,
	PFM_PMU_INTEL_BDX_UNC_CB15 = 284,
	PFM_PMU_INTEL_BDX_UNC_CB16 = 285,
	PFM_PMU_INTEL_BDX_UNC_CB17 = 286,
	PFM_PMU_INTEL_BDX_UNC_CB18 = 287,
	PFM_PMU_INTEL_BDX_UNC_CB19 = 288,
	PFM_PMU_INTEL_BDX_UNC_CB20 = 289,
	PFM_PMU_INTEL_BDX_UNC_CB21 = 290,
	PFM_PMU_INTEL_BDX_UNC_CB22 = 291,
	PFM_PMU_INTEL_BDX_UNC_CB23 = 292,
	PFM_PMU_INTEL_BDX_UNC_HA0 = 293,
	PFM_PMU_INTEL_BDX_UNC_HA1 = 294,
	PFM_PMU_INTEL_BDX_UNC_IMC0 = 295,
	PFM_PMU_INTEL_BDX_UNC_IMC1 = 296,
	PFM_PMU_INTEL_BDX_UNC_IMC2 = 297,
	PFM_PMU_INTEL_BDX_UNC_IMC3 = 298,
	PFM_PMU_INTEL_BDX_UNC_IMC4 = 299,
	PFM_PMU_INTEL_BDX_UNC_IMC5 = 300,
	PFM_PMU_INTEL_BDX_UNC_IMC6 = 301,
	PFM_PMU_INTEL_BDX_UNC_IMC7 = 302,
	PFM_PMU_INTEL_BDX_UNC_PCU = 303,
	PFM_PMU_INTEL_BDX_UNC_QPI0 = 304,
	PFM_PMU_INTEL_BDX_UNC_QPI1 = 305,
	PFM_PMU_INTEL_BDX_UNC_QPI2 = 306,
	PFM_PMU_INTEL_BDX_UNC_UBOX = 307,
	PFM_PMU_INTEL_BDX_UNC_R2PCIE = 308,
	PFM_PMU_INTEL_BDX_UNC_R3QPI0 = 309,
	PFM_PMU_INTEL_BDX_UNC_R3QPI1 = 310,
	PFM_PMU_INTEL_BDX_UNC_R3QPI2 = 311,
	PFM_PMU_INTEL_BDX_UNC_IRP = 312,
	PFM_PMU_INTEL_BDX_UNC_SB0 = 313,
	PFM_PMU_INTEL_BDX_UNC_SB1 = 314,
	PFM_PMU_INTEL_BDX_UNC_SB2 = 315,
	PFM_PMU_INTEL_BDX_UNC_SB3 = 316,
	PFM_PMU_AMD64_FAM17H = 317,
	PFM_PMU_AMD64_FAM16H = 318,
	PFM_PMU_INTEL_SKX = 319,
	PFM_PMU_INTEL_SKX_UNC_CHA0 = 320,
	PFM_PMU_INTEL_SKX_UNC_CHA1 = 321,
	PFM_PMU_INTEL_SKX_UNC_CHA2 = 322,
	PFM_PMU_INTEL_SKX_UNC_CHA3 = 323,
	PFM_PMU_INTEL_SKX_UNC_CHA4 = 324,
	PFM_PMU_INTEL_SKX_UNC_CHA5 = 325,
	PFM_PMU_INTEL_SKX_UNC_CHA6 = 326,
	PFM_PMU_INTEL_SKX_UNC_CHA7 = 327,
	PFM_PMU_INTEL_SKX_UNC_CHA8 = 328,
	PFM_PMU_INTEL_SKX_UNC_CHA9 = 329,
	PFM_PMU_INTEL_SKX_UNC_CHA10 = 330,
	PFM_PMU_INTEL_SKX_UNC_CHA11 = 331,
	PFM_PMU_INTEL_SKX_UNC_CHA12 = 332,
	PFM_PMU_INTEL_SKX_UNC_CHA13 = 333,
	PFM_PMU_INTEL_SKX_UNC_CHA14 = 334,
	PFM_PMU_INTEL_SKX_UNC_CHA15 = 335,
	PFM_PMU_INTEL_SKX_UNC_CHA16 = 336,
	PFM_PMU_INTEL_SKX_UNC_CHA17 = 337,
	PFM_PMU_INTEL_SKX_UNC_CHA18 = 338,
	PFM_PMU_INTEL_SKX_UNC_CHA19 = 339,
	PFM_PMU_INTEL_SKX_UNC_CHA20 = 340,
	PFM_PMU_INTEL_SKX_UNC_CHA21 = 341,
	PFM_PMU_INTEL_SKX_UNC_CHA22 = 342,
	PFM_PMU_INTEL_SKX_UNC_CHA23 = 343,
	PFM_PMU_INTEL_SKX_UNC_CHA24 = 344,
	PFM_PMU_INTEL_SKX_UNC_CHA25 = 345,
	PFM_PMU_INTEL_SKX_UNC_CHA26 = 346,
	PFM_PMU_INTEL_SKX_UNC_CHA27 = 347,
	PFM_PMU_INTEL_SKX_UNC_IIO0 = 348,
	PFM_PMU_INTEL_SKX_UNC_IIO1 = 349,
	PFM_PMU_INTEL_SKX_UNC_IIO2 = 350,
	PFM_PMU_INTEL_SKX_UNC_IIO3 = 351,
	PFM_PMU_INTEL_SKX_UNC_IIO4 = 352,
	PFM_PMU_INTEL_SKX_UNC_IIO5 = 353,
	PFM_PMU_INTEL_SKX_UNC_IMC0 = 354,
	PFM_PMU_INTEL_SKX_UNC_IMC1 = 355,
	PFM_PMU_INTEL_SKX_UNC_IMC2 = 356,
	PFM_PMU_INTEL_SKX_UNC_IMC3 = 357,
	PFM_PMU_INTEL_SKX_UNC_IMC4 = 358,
	PFM_PMU_INTEL_SKX_UNC_IMC5 = 359,
	PFM_PMU_INTEL_SKX_UNC_IRP = 360,
	PFM_PMU_INTEL_SKX_UNC_M2M0 = 361,
	PFM_PMU_INTEL_SKX_UNC_M2M1 = 362,
	PFM_PMU_INTEL_SKX_UNC_M3UPI0 = 363,
	PFM_PMU_INTEL_SKX_UNC_M3UPI1 = 364,
	PFM_PMU_INTEL_SKX_UNC_M3UPI2 = 365,
	PFM_PMU_INTEL_SKX_UNC_PCU = 366,
	PFM_PMU_INTEL_SKX_UNC_UBOX = 367,
	PFM_PMU_INTEL_SKX_UNC_UPI0 = 368,
	PFM_PMU_INTEL_SKX_UNC_UPI1 = 369,
	PFM_PMU_INTEL_SKX_UNC_UPI2 = 370,
	PFM_PMU_INTEL_KNM = 371,
	PFM_PMU_INTEL_KNM_UNC_IMC0 = 372,
	PFM_PMU_INTEL_KNM_UNC_IMC1 = 373,
	PFM_PMU_INTEL_KNM_UNC_IMC2 = 374,
	PFM_PMU_INTEL_KNM_UNC_IMC3 = 375,
	PFM_PMU_INTEL_KNM_UNC_IMC4 = 376,
	PFM_PMU_INTEL_KNM_UNC_IMC5 = 377,
	PFM_PMU_INTEL_KNM_UNC_IMC_UCLK0 = 378,
	PFM_PMU_INTEL_KNM_UNC_IMC_UCLK1 = 379,
	PFM_PMU_INTEL_KNM_UNC_EDC_ECLK0 = 380,
	PFM_PMU_INTEL_KNM_UNC_EDC_ECLK1 = 381,
	PFM_PMU_INTEL_KNM_UNC_EDC_ECLK2 = 382,
	PFM_PMU_INTEL_KNM_UNC_EDC_ECLK3 = 383,
	PFM_PMU_INTEL_KNM_UNC_EDC_ECLK4 = 384,
	PFM_PMU_INTEL_KNM_UNC_EDC_ECLK5 = 385,
	PFM_PMU_INTEL_KNM_UNC_EDC_ECLK6 = 386,
	PFM_PMU_INTEL_KNM_UNC_EDC_ECLK7 = 387,
	PFM_PMU_INTEL_KNM_UNC_EDC_UCLK0 = 388,
	PFM_PMU_INTEL_KNM_UNC_EDC_UCLK1 = 389,
	PFM_PMU_INTEL_KNM_UNC_EDC_UCLK2 = 390,
	PFM_PMU_INTEL_KNM_UNC_EDC_UCLK3 = 391,
	PFM_PMU_INTEL_KNM_UNC_EDC_UCLK4 = 392,
	PFM_PMU_INTEL_KNM_UNC_EDC_UCLK5 = 393,
	PFM_PMU_INTEL_KNM_UNC_EDC_UCLK6 = 394,
	PFM_PMU_INTEL_KNM_UNC_EDC_UCLK7 = 395,
	PFM_PMU_INTEL_KNM_UNC_CHA0 = 396,
	PFM_PMU_INTEL_KNM_UNC_CHA1 = 397,
	PFM_PMU_INTEL_KNM_UNC_CHA2 = 398,
	PFM_PMU_INTEL_KNM_UNC_CHA3 = 399,
	PFM_PMU_INTEL_KNM_UNC_CHA4 = 400,
	PFM_PMU_INTEL_KNM_UNC_CHA5 = 401,
	PFM_PMU_INTEL_KNM_UNC_CHA6 = 402,
	PFM_PMU_INTEL_KNM_UNC_CHA7 = 403,
	PFM_PMU_INTEL_KNM_UNC_CHA8 = 404,
	PFM_PMU_INTEL_KNM_UNC_CHA9 = 405,
	PFM_PMU_INTEL_KNM_UNC_CHA10 = 406,
	PFM_PMU_INTEL_KNM_UNC_CHA11 = 407,
	PFM_PMU_INTEL_KNM_UNC_CHA12 = 408,
	PFM_PMU_INTEL_KNM_UNC_CHA13 = 409,
	PFM_PMU_INTEL_KNM_UNC_CHA14 = 410,
	PFM_PMU_INTEL_KNM_UNC_CHA15 = 411,
	PFM_PMU_INTEL_KNM_UNC_CHA16 = 412,
	PFM_PMU_INTEL_KNM_UNC_CHA17 = 413,
	PFM_PMU_INTEL_KNM_UNC_CHA18 = 414,
	PFM_PMU_INTEL_KNM_UNC_CHA19 = 415,
	PFM_PMU_INTEL_KNM_UNC_CHA20 = 416,
	PFM_PMU_INTEL_KNM_UNC_CHA21 = 417,
	PFM_PMU_INTEL_KNM_UNC_CHA22 = 418,
	PFM_PMU_INTEL_KNM_UNC_CHA23 = 419,
	PFM_PMU_INTEL_KNM_UNC_CHA24 = 420,
	PFM_PMU_INTEL_KNM_UNC_CHA25 = 421,
	PFM_PMU_INTEL_KNM_UNC_CHA26 = 422,
	PFM_PMU_INTEL_KNM_UNC_CHA27 = 423,
	PFM_PMU_INTEL_KNM_UNC_CHA28 = 424,
	PFM_PMU_INTEL_KNM_UNC_CHA29 = 425,
	PFM_PMU_INTEL_KNM_UNC_CHA30 = 426,
	PFM_PMU_INTEL_KNM_UNC_CHA31 = 427,
	PFM_PMU_INTEL_KNM_UNC_CHA32 = 428,
	PFM_PMU_INTEL_KNM_UNC_CHA33 = 429,
	PFM_PMU_INTEL_KNM_UNC_CHA34 = 430,
	PFM_PMU_INTEL_KNM_UNC_CHA35 = 431,
	PFM_PMU_INTEL_KNM_UNC_CHA36 = 432,
	PFM_PMU_INTEL_KNM_UNC_CHA37 = 433,
	PFM_PMU_INTEL_KNM_UNC_UBOX = 434,
	PFM_PMU_INTEL_KNM_UNC_M2PCIE = 435,
	PFM_PMU_ARM_THUNDERX2 = 436,
	PFM_PMU_INTEL_CLX = 437,
	PFM_PMU_ARM_THUNDERX2_DMC0 = 438,
	PFM_PMU_ARM_THUNDERX2_DMC1 = 439,
	PFM_PMU_ARM_THUNDERX2_LLC0 = 440,
	PFM_PMU_ARM_THUNDERX2_LLC1 = 441,
	PFM_PMU_ARM_THUNDERX2_CCPI0 = 442,
	PFM_PMU_ARM_THUNDERX2_CCPI1 = 443,
	PFM_PMU_AMD64_FAM17H_ZEN1 = 444,
	PFM_PMU_AMD64_FAM17H_ZEN2 = 445,
	PFM_PMU_INTEL_TMT = 446,
	PFM_PMU_INTEL_ICL = 447,
	PFM_PMU_ARM_A64FX = 448,
	PFM_PMU_ARM_N1 = 449,
	PFM_PMU_AMD64_FAM19H_ZEN3 = 450,
	PFM_PMU_AMD64_RAPL = 451,
	PFM_PMU_AMD64_FAM19H_ZEN3_L3 = 452,
	PFM_PMU_INTEL_ICX = 453,
	PFM_PMU_ARM_N2 = 454,
	PFM_PMU_ARM_KUNPENG = 455,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_DDRC0 = 456,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_DDRC1 = 457,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_DDRC2 = 458,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_DDRC3 = 459,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_DDRC0 = 460,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_DDRC1 = 461,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_DDRC2 = 462,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_DDRC3 = 463,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_DDRC0 = 464,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_DDRC1 = 465,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_DDRC2 = 466,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_DDRC3 = 467,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_DDRC0 = 468,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_DDRC1 = 469,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_DDRC2 = 470,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_DDRC3 = 471,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_HHA2 = 472,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_HHA3 = 473,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_HHA0 = 474,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_HHA1 = 475,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_HHA6 = 476,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_HHA7 = 477,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_HHA4 = 478,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_HHA5 = 479,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_L3C10 = 480,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_L3C11 = 481,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_L3C12 = 482,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_L3C13 = 483,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_L3C14 = 484,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_L3C15 = 485,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_L3C8 = 486,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL1_L3C9 = 487,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_L3C0 = 488,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_L3C1 = 489,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_L3C2 = 490,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_L3C3 = 491,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_L3C4 = 492,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_L3C5 = 493,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_L3C6 = 494,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL3_L3C7 = 495,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_L3C24 = 496,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_L3C25 = 497,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_L3C26 = 498,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_L3C27 = 499,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_L3C28 = 500,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_L3C29 = 501,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_L3C30 = 502,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL5_L3C31 = 503,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_L3C16 = 504,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_L3C17 = 505,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_L3C18 = 506,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_L3C19 = 507,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_L3C20 = 508,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_L3C21 = 509,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_L3C22 = 510,
	PFM_PMU_ARM_KUNPENG_UNC_SCCL7_L3C23 = 511,
	PFM_PMU_INTEL_SPR = 512,
	PFM_PMU_POWER10 = 513,
	PFM_PMU_AMD64_FAM19H_ZEN4 = 514,
	PFM_PMU_ARM_V1 = 515,
	PFM_PMU_ARM_V2 = 516,
	PFM_PMU_MAX = 517
} pfm_pmu_t;

/** Kind of a PMU. */
typedef enum {
	PFM_PMU_TYPE_UNKNOWN = 0,
	PFM_PMU_TYPE_CORE = 1,
	PFM_PMU_TYPE_UNCORE = 2,
	PFM_PMU_TYPE_OS_GENERIC = 3,
	PFM_PMU_TYPE_MAX = 4
} pfm_pmu_type_t;

/** Kind of an event attribute. */
typedef enum {
	PFM_ATTR_NONE = 0,
	PFM_ATTR_UMASK = 1,       /* unit mask */
	PFM_ATTR_MOD_BOOL = 2,    /* modifier, y or n */
	PFM_ATTR_MOD_INTEGER = 3, /* modifier with a number */
	PFM_ATTR_RAW_UMASK = 4,   /* unit mask given as a number; never reported */
	PFM_ATTR_MAX = 5
} pfm_attr_t;

/** Type of what an event counts. */
typedef enum {
	PFM_DTYPE_UNKNOWN = 0,
	PFM_DTYPE_UINT64 = 1,
	PFM_DTYPE_INT64 = 2,
	PFM_DTYPE_DOUBLE = 3,
	PFM_DTYPE_FIXED = 4,
	PFM_DTYPE_RATIO = 5,
	PFM_DTYPE_CHAR8 = 6,
	PFM_DTYPE_MAX = 7
} pfm_dtype_t;

/** Who interprets an attribute. */
typedef enum {
	PFM_ATTR_CTRL_UNKNOWN = 0,
	PFM_ATTR_CTRL_PMU = 1,
	PFM_ATTR_CTRL_PERF_EVENT = 2,
	PFM_ATTR_CTRL_MAX = 3
} pfm_attr_ctrl_t;

/** Operating system interface that an encoding is for. */
typedef enum {
	PFM_OS_NONE = 0,           /* raw PMU codes: pfm_pmu_encode_arg_t */
	PFM_OS_PERF_EVENT = 1,     /* perf_event: pfm_perf_encode_arg_t */
	PFM_OS_PERF_EVENT_EXT = 2, /* perf_event with its own modifiers */
	PFM_OS_MAX = 3
} pfm_os_t;

/** Whether an event counts speculative execution. */
typedef enum {
	PFM_EVENT_INFO_SPEC_NA = 0,
	PFM_EVENT_INFO_SPEC_TRUE = 1,
	PFM_EVENT_INFO_SPEC_FALSE = 2
} pfm_event_info_spec_t;

/* Return codes. */
#define PFM_SUCCESS 0
#define PFM_ERR_NOTSUPP (-1)
#define PFM_ERR_INVAL (-2)
#define PFM_ERR_NOINIT (-3)
#define PFM_ERR_NOTFOUND (-4)
#define PFM_ERR_FEATCOMB (-5)
#define PFM_ERR_UMASK (-6)
#define PFM_ERR_NOMEM (-7)
#define PFM_ERR_ATTR (-8)
#define PFM_ERR_ATTR_VAL (-9)
#define PFM_ERR_ATTR_SET (-10)
#define PFM_ERR_TOOMANY (-11)
#define PFM_ERR_TOOSMALL (-12)

/* Their texts, as X(name, text): pfm_strerror() is made from this list. */
#define PFM_ERROR_LIST(X) \
	X(PFM_SUCCESS, "success") \
	X(PFM_ERR_NOTSUPP, "not supported") \
	X(PFM_ERR_INVAL, "invalid parameters") \
	X(PFM_ERR_NOINIT, "pfmlib not initialized") \
	X(PFM_ERR_NOTFOUND, "event not found") \
	X(PFM_ERR_FEATCOMB, "invalid combination of model specific features") \
	X(PFM_ERR_UMASK, "invalid or missing unit mask") \
	X(PFM_ERR_NOMEM, "out of memory") \
	X(PFM_ERR_ATTR, "invalid event attribute") \
	X(PFM_ERR_ATTR_VAL, "invalid event attribute value") \
	X(PFM_ERR_ATTR_SET, "attribute value already set") \
	X(PFM_ERR_TOOMANY, "too many parameters") \
	X(PFM_ERR_TOOSMALL, "parameter is too small")

/** What functions return: PFM_SUCCESS or PFM_ERR_*. */
typedef int pfm_err_t;

/** What system calls return. */
typedef int os_err_t;

/** What is known of a PMU. */
typedef struct {
	const char *name;    /* name, as in NAME::EVENT */
	const char *desc;    /* description */
	size_t size;         /* size of this structure, in and out */
	pfm_pmu_t pmu;       /* identifier */
	pfm_pmu_type_t type; /* core, uncore, operating system */
	int nevents;         /* number of events */
	int first_event;     /* opaque index of the first event */
	int max_encoding;    /* number of 64-bit codes of an event at most */
	int num_cntrs;       /* generic counters */
	int num_fixed_cntrs; /* fixed counters */
	SWIG_ANONYMOUS struct {
		unsigned int is_present    : 1; /* the PMU is active */
		unsigned int is_dfl        : 1; /* always 0 */
		unsigned int reserved_bits : 30;
	} SWIG_NAME(flags);
} pfm_pmu_info_t;

/** What is known of an event. */
typedef struct {
	const char *name;  /* name */
	const char *desc;  /* description */
	const char *equiv; /* what it is another name of, or NULL */
	size_t size;       /* size of this structure, in and out */
	uint64_t code;     /* event code */
	pfm_pmu_t pmu;     /* its PMU */
	pfm_dtype_t dtype; /* type of the count */
	int idx;           /* opaque index */
	int nattrs;        /* number of attributes */
	int reserved;      /* 0 */
	SWIG_ANONYMOUS struct {
		unsigned int is_precise      : 1; /* can be sampled precisely */
		unsigned int is_speculative  : 2; /* always PFM_EVENT_INFO_SPEC_NA */
		unsigned int support_hw_smpl : 1; /* the hardware can sample it */
		unsigned int reserved_bits   : 28;
	} SWIG_NAME(flags);
} pfm_event_info_t;

/** What is known of an attribute of an event. */
typedef struct {
	const char *name;     /* name */
	const char *desc;     /* description */
	const char *equiv;    /* unit masks that it stands for, or NULL */
	size_t size;          /* size of this structure, in and out */
	uint64_t code;        /* bits of a unit mask, number of a modifier */
	pfm_attr_t type;      /* unit mask or modifier */
	int idx;              /* attribute index */
	pfm_attr_ctrl_t ctrl; /* who interprets it */
	SWIG_ANONYMOUS struct {
		unsigned int is_dfl          : 1; /* a default of its group of unit masks */
		unsigned int is_precise      : 1; /* can be sampled precisely */
		unsigned int is_speculative  : 2; /* always PFM_EVENT_INFO_SPEC_NA */
		unsigned int support_hw_smpl : 1; /* the hardware can sample it */
		unsigned int reserved_bits   : 27;
	} SWIG_NAME(flags);
	SWIG_ANONYMOUS union {
		uint64_t dfl_val64;  /* default of a modifier, as a number: always 0 */
		const char *dfl_str; /* as a string */
		int dfl_bool;        /* as a flag */
		int dfl_int;         /* as a small number */
	} SWIG_NAME(defaults);
} pfm_event_attr_info_t;

/** Argument of pfm_get_os_event_encoding() for PFM_OS_NONE. */
typedef struct {
	uint64_t *codes; /* array, or NULL: one is allocated for the caller to free */
	char **fstr;     /* receives the fully qualified string to free, or NULL */
	size_t size;     /* size of this structure */
	int count;       /* elements of codes, in and out */
	int idx;         /* receives the opaque index of the event */
} pfm_pmu_encode_arg_t;

#if defined(__LP64__) || defined(SWIG) /* which has no macros of a compiler */
#define PFM_PMU_INFO_ABI0 56
#define PFM_EVENT_INFO_ABI0 64
#define PFM_ATTR_INFO_ABI0 64
#define PFM_RAW_ENCODE_ABI0 32
#else
#define PFM_PMU_INFO_ABI0 44
#define PFM_EVENT_INFO_ABI0 48
#define PFM_ATTR_INFO_ABI0 48
#define PFM_RAW_ENCODE_ABI0 20
#endif

/* Loops over the attributes of an event and over all PMU identifiers. */
#define pfm_for_each_event_attr(x, z) for ((x) = 0; (x) < (z)->nattrs; (x)++)
#define pfm_for_all_pmus(x) for ((x) = PFM_PMU_NONE; (x) < PFM_PMU_MAX; (x)++)

/**
 * Initialise the library: read the environment, detect the PMUs.  Again without
 * pfm_terminate() it does nothing and returns what it returned.
 *
 * :return: PFM_SUCCESS
 *
 * Source: libpfm 4.13.0, pfm_initialize(3).
 */
extern pfm_err_t pfm_initialize(void);

/**
 * End the use of the library.  PMUs that were active stay so when it is
 * initialised again.
 *
 * Source: libpfm 4.13.0, pfm_terminate(3).
 */
extern void pfm_terminate(void);

/**
 * Get the text of a return code.  Needs no initialisation.
 *
 * :param code: any number
 * :return: a static string, never NULL
 *
 * Source: libpfm 4.13.0, pfm_strerror(3).
 */
extern const char *pfm_strerror(int code);

/**
 * Get the version of the library.  Needs no initialisation.
 *
 * :return: LIBPFM_VERSION: major << 16 | minor
 *
 * Source: libpfm 4.13.0, pfm_get_version(3).
 */
extern int pfm_get_version(void);

/**
 * Get what is known of a PMU.
 *
 * :param pmu: its identifier
 * :param output: receives the answer; size must be set
 * :return: PFM_SUCCESS; PFM_ERR_NOINIT; PFM_ERR_INVAL for an identifier that
 *     does not exist, a NULL or a bad size; PFM_ERR_NOTSUPP for a PMU that is
 *     not known here
 *
 * Source: libpfm 4.13.0, pfm_get_pmu_info(3).
 */
extern pfm_err_t pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *output);

/**
 * Get the event after another one.
 *
 * :param idx: opaque index of an event
 * :return: opaque index of the next event of the same PMU, or -1
 *
 * Source: libpfm 4.13.0, pfm_get_event_next(3).
 */
extern int pfm_get_event_next(int idx);

/**
 * Check a PMU's event table: encode each event with each unit mask.
 *
 * :param pmu_id: PMU
 * :param fp: receives one line for each problem
 * :return: PFM_SUCCESS; PFM_ERR_INVAL for a NULL or a PMU that is not known;
 *     else the last error of an encoding
 *
 * Source: libpfm 4.13.0, pfm_pmu_validate(3).
 */
extern pfm_err_t pfm_pmu_validate(pfm_pmu_t pmu_id, FILE *fp);

/**
 * Find an event.  Unit masks and modifiers are parsed but not combined.
 *
 * :param str: [PMU::]EVENT[:ATTRIBUTE...]
 * :return: opaque index of the event (of an alias: of its target), at least 0;
 *     PFM_ERR_NOINIT; PFM_ERR_INVAL; PFM_ERR_NOTFOUND; PFM_ERR_ATTR;
 *     PFM_ERR_ATTR_VAL; PFM_ERR_ATTR_SET; PFM_ERR_TOOMANY
 *
 * Source: libpfm 4.13.0, pfm_find_event(3).
 */
extern int pfm_find_event(const char *str);

/**
 * Get what is known of an event.
 *
 * :param idx: opaque index
 * :param os: interface for which attributes are counted
 * :param output: receives the answer; size must be set
 * :return: PFM_SUCCESS; PFM_ERR_NOINIT; PFM_ERR_INVAL for a bad index,
 *     interface or size or a NULL; PFM_ERR_NOTSUPP for an inactive interface
 *
 * Source: libpfm 4.13.0, pfm_get_event_info(3).
 */
extern pfm_err_t pfm_get_event_info(int idx, pfm_os_t os, pfm_event_info_t *output);

/**
 * Get what is known of an attribute of an event.
 *
 * :param eidx: opaque index of the event
 * :param aidx: attribute, from 0 to nattrs, exclusive
 * :param os: interface
 * :param output: receives the answer; size must be set
 * :return: PFM_SUCCESS; PFM_ERR_NOINIT; PFM_ERR_INVAL for a bad index,
 *     interface or size or a NULL; PFM_ERR_NOTSUPP for an inactive interface
 *
 * Source: libpfm 4.13.0, pfm_get_event_attr_info(3).
 */
extern pfm_err_t pfm_get_event_attr_info(int eidx, int aidx, pfm_os_t os, pfm_event_attr_info_t *output);

/**
 * Encode an event string.
 *
 * :param str: [PMU::]EVENT[:ATTRIBUTE...]
 * :param dfl_plm: privilege levels where the string names none, PFM_PLM*
 * :param os: interface: decides what args is
 * :param args: pfm_pmu_encode_arg_t (PFM_OS_NONE) or pfm_perf_encode_arg_t
 * :return: PFM_SUCCESS; PFM_ERR_NOINIT; PFM_ERR_INVAL; PFM_ERR_NOTSUPP for an
 *     inactive interface; PFM_ERR_NOTFOUND; PFM_ERR_ATTR; PFM_ERR_ATTR_VAL;
 *     PFM_ERR_ATTR_SET; PFM_ERR_UMASK; PFM_ERR_FEATCOMB; PFM_ERR_TOOMANY;
 *     PFM_ERR_TOOSMALL; PFM_ERR_NOMEM
 *
 * Source: libpfm 4.13.0, pfm_get_os_event_encoding(3); libpfm_intel_glm(3).
 */
extern pfm_err_t pfm_get_os_event_encoding(const char *str, int dfl_plm, pfm_os_t os, void *args);

/**
 * Encode an event string to raw codes: the older form for PFM_OS_NONE.
 *
 * :param str: [PMU::]EVENT[:ATTRIBUTE...]
 * :param dfl_plm: privilege levels where the string names none, PFM_PLM*
 * :param fstr: receives the fully qualified string to free, or NULL
 * :param idx: receives the opaque index of the event, or NULL
 * :param codes: array of *count elements; or NULL with *count 0: one is
 *     allocated for the caller to free
 * :param count: elements of the array, in and out
 * :return: as pfm_get_os_event_encoding(); PFM_ERR_INVAL also where *codes and
 *     *count do not fit together
 *
 * Source: libpfm 4.13.0, pfm_get_event_encoding(3).
 */
extern pfm_err_t pfm_get_event_encoding(const char *str, int dfl_plm, char **fstr, int *idx, uint64_t **codes,
					int *count);

#ifdef __cplusplus
}
#endif

#endif /* __PFMLIB_H__ */
