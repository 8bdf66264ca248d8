/* How many floating-point operations the instruction of VEX's code is, and whether it multiplies. */
#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"

#include "tool.h"

/* clang-format gives each case a line. */
/* clang-format off */
UInt
flops(IROp op, Bool *multiplies)
{
	*multiplies = False;
	switch (op) {
	case Iop_MulF64: case Iop_MulF32: case Iop_MulF64r32: case Iop_MulF128: case Iop_Mul32F0x4:
	case Iop_Mul64F0x2:
		*multiplies = True;
		return 1;
	case Iop_Mul32Fx2: case Iop_Mul64Fx2:
		*multiplies = True;
		return 2;
	case Iop_Mul32Fx4: case Iop_Mul64Fx4:
		*multiplies = True;
		return 4;
	case Iop_Mul32Fx8:
		*multiplies = True;
		return 8;
	case Iop_AddF64: case Iop_SubF64: case Iop_DivF64: case Iop_AddF32: case Iop_SubF32: case Iop_DivF32:
	case Iop_AddF64r32: case Iop_SubF64r32: case Iop_DivF64r32: case Iop_SqrtF64: case Iop_SqrtF32:
	case Iop_AddF128: case Iop_SubF128: case Iop_DivF128: case Iop_SqrtF128: case Iop_AtanF64: case Iop_Yl2xF64:
	case Iop_Yl2xp1F64: case Iop_PRemF64: case Iop_PRem1F64: case Iop_SinF64: case Iop_CosF64: case Iop_TanF64:
	case Iop_2xm1F64: case Iop_RSqrtEst5GoodF64: case Iop_MaxNumF64: case Iop_MinNumF64: case Iop_MaxNumF32:
	case Iop_MinNumF32: case Iop_Add32F0x4: case Iop_Sub32F0x4: case Iop_Div32F0x4: case Iop_Max32F0x4:
	case Iop_Min32F0x4: case Iop_RecipEst32F0x4: case Iop_Sqrt32F0x4: case Iop_RSqrtEst32F0x4: case Iop_Add64F0x2:
	case Iop_Sub64F0x2: case Iop_Div64F0x2: case Iop_Max64F0x2: case Iop_Min64F0x2: case Iop_Sqrt64F0x2:
		return 1;
	case Iop_MAddF32: case Iop_MSubF32: case Iop_MAddF64: case Iop_MSubF64: case Iop_MAddF64r32:
	case Iop_MSubF64r32: case Iop_MAddF128: case Iop_MSubF128: case Iop_NegMAddF128: case Iop_NegMSubF128:
	case Iop_Max32Fx2: case Iop_Min32Fx2: case Iop_PwMax32Fx2: case Iop_PwMin32Fx2: case Iop_RecipEst32Fx2:
	case Iop_RSqrtEst32Fx2: case Iop_Add32Fx2: case Iop_Sub32Fx2: case Iop_PwAdd32Fx2: case Iop_Add64Fx2:
	case Iop_Sub64Fx2: case Iop_Div64Fx2: case Iop_Max64Fx2: case Iop_Min64Fx2: case Iop_Sqrt64Fx2:
	case Iop_RecipEst64Fx2: case Iop_RSqrtEst64Fx2:
		return 2;
	case Iop_Add32Fx4: case Iop_Sub32Fx4: case Iop_Div32Fx4: case Iop_Max32Fx4: case Iop_Min32Fx4:
	case Iop_PwMax32Fx4: case Iop_PwMin32Fx4: case Iop_Sqrt32Fx4: case Iop_RecipEst32Fx4: case Iop_RSqrtEst32Fx4:
	case Iop_RecipStep32Fx2: case Iop_RSqrtStep32Fx2: case Iop_RecipStep64Fx2: case Iop_RSqrtStep64Fx2:
	case Iop_Add64Fx4: case Iop_Sub64Fx4: case Iop_Div64Fx4: case Iop_Sqrt64Fx4: case Iop_Max64Fx4:
	case Iop_Min64Fx4:
		return 4;
	case Iop_RecipStep32Fx4: case Iop_RSqrtStep32Fx4: case Iop_Add32Fx8: case Iop_Sub32Fx8: case Iop_Div32Fx8:
	case Iop_Sqrt32Fx8: case Iop_RSqrtEst32Fx8: case Iop_RecipEst32Fx8: case Iop_Max32Fx8: case Iop_Min32Fx8:
		return 8;
	default:
		return 0;
	}
}
/* clang-format on */
