// Everything a person needs: `#include <heddle/heddle.h>`, `namespace hd = heddle;`.
#ifndef HEDDLE_FRONTEND_HEDDLE_H_
#define HEDDLE_FRONTEND_HEDDLE_H_

#include "heddle/backends/compile.h"
#include "heddle/backends/eager/pack.h"
#include "heddle/backends/graph_runtime.h"
#include "heddle/backends/register_kernel.h"
#include "heddle/backends/tiled/carrier.h"
#include "heddle/frontend/checked.h"
#include "heddle/frontend/eager.h"
#include "heddle/frontend/export.h"
#include "heddle/frontend/nn.h"
#include "heddle/frontend/ops.h"
#include "heddle/frontend/optim.h"
#include "heddle/frontend/params.h"
#include "heddle/frontend/trace.h"
#include "heddle/graph/ad/transforms.h"
#include "heddle/graph/definition.h"
#include "heddle/graph/emit.h"
#include "heddle/graph/interpret.h"
#include "heddle/graph/text.h"

#endif  // HEDDLE_FRONTEND_HEDDLE_H_
