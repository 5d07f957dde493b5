//! The code generator, and what every function made with it needs.
//!
//! In:  numbers that never change.
//! Out: functions that are begun and ended here, and may call the functions of the interpreter.

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, FuncRef, Signature, UserFuncName, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use rustc_hash::FxHashMap;

use super::operations::{
    Helper, Pairs, SIN_COS_NAME, helper_name, needs_helper, one_argument_helpers, sin_cos,
    two_argument_helpers,
};
use crate::code::{Instr, Op};

pub(super) struct Assembler {
    pub(super) module: JITModule,
    pub(super) context: Context,
    pub(super) builder_context: FunctionBuilderContext,
    helpers: FxHashMap<Op, FuncId>,
    /// Numbers that never change, by slot.
    pub(super) constants: FxHashMap<u32, f64>,
    /// The processor computes on pairs of numbers.
    pub(super) has_pairs: bool,
    pub(super) n_bytes: usize,
}

impl Assembler {
    pub(super) fn new(constants: FxHashMap<u32, f64>) -> Result<Self, String> {
        let mut flags = settings::builder();
        for (name, value) in [
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            // Instructions stay in the order of the model, where numbers are used soon after they are made. The
            // optimiser would move each to its last moment and drive constants into registers and out to the
            // stack: a fifth slower in the end, and longer to make.
            ("opt_level", "none"),
            // Debug builds check every function; it is a fifth of compiling, which release builds save.
            (
                "enable_verifier",
                if cfg!(debug_assertions) {
                    "true"
                } else {
                    "false"
                },
            ),
        ] {
            flags.set(name, value).map_err(|error| error.to_string())?;
        }

        let isa = cranelift_native::builder()
            .map_err(str::to_owned)?
            .finish(settings::Flags::new(flags))
            .map_err(|error| error.to_string())?;
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        for (op, function) in one_argument_helpers() {
            builder.symbol(helper_name(op), function as *const u8);
        }
        for (op, function) in two_argument_helpers() {
            builder.symbol(helper_name(op), function as *const u8);
        }

        builder.symbol(SIN_COS_NAME, sin_cos as *const u8);
        let module = JITModule::new(builder);
        Ok(Assembler {
            context: module.make_context(),
            module,
            builder_context: FunctionBuilderContext::new(),
            helpers: FxHashMap::default(),
            constants,
            has_pairs: cfg!(any(target_arch = "x86_64", target_arch = "aarch64")),
            n_bytes: 0,
        })
    }

    /// Declares what instructions call, sines and cosines as calls, too.
    pub(super) fn declare_helpers(
        &mut self,
        instrs: &[Instr],
    ) -> Result<Vec<(Helper, FuncId)>, String> {
        let mut found: Vec<(Helper, FuncId)> = Vec::new();
        if !Pairs::new(instrs).angles.is_empty() {
            let mut signature = self.module.make_signature();
            signature.params.push(AbiParam::new(types::F64));
            signature.params.push(AbiParam::new(types::I64));
            signature.returns.push(AbiParam::new(types::F64));
            let id = self
                .module
                .declare_function(SIN_COS_NAME, Linkage::Import, &signature)
                .map_err(|error| error.to_string())?;
            found.push((Helper::SinCos, id));
        }

        for i in instrs {
            if !needs_helper(i.op) || found.iter().any(|&(of, _)| of == Helper::Of(i.op)) {
                continue;
            }
            let id = match self.helpers.get(&i.op) {
                Some(&id) => id,
                None => {
                    let mut signature = self.module.make_signature();
                    let n = i.op.n_operands();
                    signature
                        .params
                        .extend(std::iter::repeat_n(AbiParam::new(types::F64), n));
                    signature.returns.push(AbiParam::new(types::F64));
                    let name = helper_name(i.op);
                    let id = self
                        .module
                        .declare_function(&name, Linkage::Import, &signature)
                        .map_err(|error| error.to_string())?;
                    self.helpers.insert(i.op, id);
                    id
                }
            };
            found.push((Helper::Of(i.op), id));
        }
        Ok(found)
    }

    pub(super) fn begin(
        &mut self,
        signature: &Signature,
        helpers: &[(Helper, FuncId)],
    ) -> Result<(FuncId, FxHashMap<Helper, FuncRef>), String> {
        let function = self
            .module
            .declare_anonymous_function(signature)
            .map_err(|error| error.to_string())?;
        self.context.func.signature = signature.clone();
        self.context.func.name = UserFuncName::user(0, function.as_u32());
        let references = helpers
            .iter()
            .map(|&(helper, id)| {
                (
                    helper,
                    self.module.declare_func_in_func(id, &mut self.context.func),
                )
            })
            .collect();
        Ok((function, references))
    }

    pub(super) fn end(&mut self, function: FuncId) -> Result<FuncId, String> {
        self.module
            .define_function(function, &mut self.context)
            .map_err(|error| error.to_string())?;
        if let Some(code) = self.context.compiled_code() {
            self.n_bytes += code.code_buffer().len();
        }
        self.module.clear_context(&mut self.context);
        Ok(function)
    }
}
