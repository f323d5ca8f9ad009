//! Tensors in npz files: `arg0, arg1, …` and `out0, out1, …`.

use crate::failure::Failure;
use crate::input_output;
use ckpt_interp::Tensor;
use ckpt_ir::ElementType;
use npyz::{DType, NpyHeader, Order, WriteOptions, WriterBuilder as _};
use std::io::{Cursor, Read as _, Write as _};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The NumPy type that holds an element type; types that NumPy lacks lie as
/// their bits in unsigned integers.
fn numpy_type(element: ElementType) -> String {
    use ElementType as E;
    let width = element.byte_width();
    match element {
        E::Bool => "|b1".into(),
        E::Int(8) => "|i1".into(),
        E::F16 | E::F32 | E::F64 => format!("<f{width}"),
        E::Complex64 | E::Complex128 => format!("<c{width}"),
        E::Int(bits) if bits < 8 => "|i1".into(),
        E::Int(_) | E::Index => format!("<i{width}"),
        _ if width == 1 => "|u1".into(),
        _ => format!("<u{width}"),
    }
}

/// The arrays of an npz file.
pub(crate) struct Archive {
    path: String,
    zip: ZipArchive<Cursor<Vec<u8>>>,
}

impl Archive {
    /// Opens a file.
    pub(crate) fn open(path: &str) -> Result<Self, Failure> {
        let bytes = std::fs::read(path).map_err(|source| Failure::Io { path: path.into(), source })?;
        let invalid =
            |error: zip::result::ZipError| Failure::Invalid { path: path.into(), message: error.to_string() };
        Ok(Self { path: path.to_owned(), zip: ZipArchive::new(Cursor::new(bytes)).map_err(invalid)? })
    }

    /// The array of a name as a tensor of a type and shape.
    pub(crate) fn tensor(
        &mut self,
        name: &str,
        element: ElementType,
        shape: &[usize],
    ) -> Result<Tensor, Failure> {
        let path = self.path.clone();
        let invalid =
            |message: String| Failure::Invalid { path: path.clone(), message: format!("{name}: {message}") };
        let mut file = self.zip.by_name(&format!("{name}.npy")).map_err(|e| invalid(e.to_string()))?;
        let header = NpyHeader::from_reader(&mut file).map_err(|e| invalid(e.to_string()))?;
        let found: Vec<usize> = header.shape().iter().map(|size| *size as usize).collect();
        let wanted = DType::new_scalar(
            numpy_type(element)
                .parse()
                .map_err(|_| Failure::Internal(format!("no NumPy type for {element}")))?,
        );
        if found != shape || header.dtype() != wanted {
            return Err(invalid(format!(
                "has shape {found:?} and type {}, the program needs {shape:?} and {}",
                header.dtype().descr(),
                wanted.descr()
            )));
        }
        if header.order() == Order::Fortran && shape.len() > 1 {
            return Err(invalid("is in Fortran order; write it with numpy.ascontiguousarray".into()));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| invalid(e.to_string()))?;
        Tensor::from_bytes(element, shape, &bytes)
            .ok_or_else(|| invalid("has another length than its header says".into()))
    }
}

/// Writes tensors under their names.
pub(crate) fn write(path: &str, arrays: &[(String, &Tensor)]) -> Result<(), Failure> {
    let mut bytes = Cursor::new(Vec::new());
    pack(&mut bytes, arrays).map_err(|source| Failure::Io { path: path.into(), source })?;
    input_output::write(path, bytes.get_ref())
}

fn pack(out: &mut Cursor<Vec<u8>>, arrays: &[(String, &Tensor)]) -> std::io::Result<()> {
    let mut zip = ZipWriter::new(out);
    // Stored, as NumPy does it, and without a time, so that equal results are equal files.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .large_file(true);
    for (name, tensor) in arrays {
        zip.start_file(format!("{name}.npy"), options)?;
        let shape: Vec<u64> = tensor.shape.iter().map(|size| *size as u64).collect();
        let dtype = numpy_type(tensor.element).parse().map(DType::new_scalar);
        let dtype = dtype.map_err(|_| std::io::Error::other("no such NumPy type"))?;
        WriteOptions::new_header_only().dtype(dtype).shape(&shape).writer(&mut zip).write_header_only()?;
        zip.write_all(&tensor.to_bytes())?;
    }
    zip.finish()?;
    Ok(())
}
