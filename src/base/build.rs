//! Compiles the one C file and the CUDA kernels: every `cuda/*.cu` becomes one image for each architecture, which the
//! library embeds in compressed form. The launch constants of `cuda/*_launch.h` become Rust constants.
//!
//! | variable | meaning |
//! |---|---|
//! | `PURLIN_CUDA` | `auto` (default): compile if nvcc is found; `on`: fail without it; `off`: a CPU library |
//! | `PURLIN_CUDA_ARCHS` | machine code (`sm_90`, `90a`) and PTX (`compute_80`), separated by commas or blanks |
//! | `NVCC`, `CUDA_HOME` | where nvcc is; then `PATH` and `target/toolchain` are searched |

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs};

type Outcome<T> = Result<T, String>;

/// Machine code for the A100 and H100 generations, and PTX that newer ones compile when they load it.
const DEFAULT_ARCHS: &str = "sm_80,sm_90,compute_80";
/// Families with instructions that code for sm_90 has only as sm_90a, which the same GPUs run.
const FEATURED: &[&str] = &["tt_digits"];
/// Of zstd. nvcc's own compression is as good from CUDA 13 on, but that of CUDA 12 either takes twice the space or needs
/// drivers from 550 on.
const LEVEL: i32 = 19;
/// nvcc takes 1 GB and a minute for the larger families; more at once would swamp a small machine.
const PARALLEL: usize = 2;

/// Calls that may throw, which Rust code cannot catch.
const FOREIGN: &str = "backend/foreign.c";
/// The repository's folder of kernels: a link in the repository, a folder in a package made from it.
const SOURCES: &str = "cuda";

fn main() {
    println!("cargo:rustc-check-cfg=cfg(purlin_cuda)");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={SOURCES}");
    println!("cargo:rerun-if-changed={FOREIGN}");
    // A frame that an exception may unwind.
    cc::Build::new().file(FOREIGN).flag("-fexceptions").warnings(true).compile("purlin_foreign");
    for name in ["PURLIN_CUDA", "PURLIN_CUDA_ARCHS", "NVCC", "CUDA_HOME"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if let Err(problem) = cuda() {
        println!("cargo:error={problem}");
        eprintln!("{problem}");
        std::process::exit(1);
    }
}

fn cuda() -> Outcome<()> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("CARGO_MANIFEST_DIR is not set")?);
    let sources =
        package.join(SOURCES).canonicalize().map_err(|e| format!("{SOURCES} of {}: {e}", package.display()))?;
    let root = sources.parent().unwrap_or(&package);
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let mut constants = String::new();
    for header in files(&sources, "_launch.h")? {
        constants.push_str(&launch_constants(&header)?);
    }
    write_if_changed(&out.join("launch_constants.rs"), &constants)?;

    let wanted = env::var("PURLIN_CUDA").unwrap_or_default();
    let nvcc = match wanted.as_str() {
        "off" => Err("PURLIN_CUDA=off".to_owned()),
        "" | "auto" | "on" => find_nvcc(root),
        other => return Err(format!("PURLIN_CUDA is {other:?}; auto, on or off is needed")),
    };
    let nvcc = match nvcc {
        Ok(nvcc) => nvcc,
        Err(why) => {
            match wanted.as_str() {
                "on" => return Err(format!("PURLIN_CUDA=on, but {why}")),
                "off" => {}
                _ => println!("cargo:warning=purlin is built without GPU kernels: {why} (make deps brings nvcc)"),
            }
            println!("cargo:rustc-env=PURLIN_BUILD_CUDA=none");
            println!("cargo:rustc-env=PURLIN_BUILD_ARCHS=none");
            return write_if_changed(&out.join("images.rs"), &embedding(&[], &out)?);
        }
    };
    println!("cargo:rerun-if-changed={}", nvcc.display());
    let archs = architectures(&env::var("PURLIN_CUDA_ARCHS").unwrap_or_default())?;
    let version = nvcc_version(&nvcc)?;
    let images = compile_all(&nvcc, &version, &archs, &sources, &out)?;
    write_if_changed(&out.join("images.rs"), &embedding(&images, &out)?)?;
    println!("cargo:rustc-cfg=purlin_cuda");
    println!("cargo:rustc-env=PURLIN_BUILD_CUDA={version}");
    println!("cargo:rustc-env=PURLIN_BUILD_ARCHS={}", archs.join(" "));
    Ok(())
}

/// nvcc by `NVCC`, `CUDA_HOME`, `PATH`, then the toolchain that `make deps` lays into the project.
fn find_nvcc(root: &Path) -> Outcome<PathBuf> {
    if let Some(nvcc) = env::var_os("NVCC").filter(|v| !v.is_empty()) {
        let nvcc = PathBuf::from(nvcc);
        return if nvcc.is_file() { Ok(nvcc) } else { Err(format!("NVCC is {}, which is no file", nvcc.display())) };
    }
    if let Some(home) = env::var_os("CUDA_HOME").filter(|v| !v.is_empty()) {
        let nvcc = Path::new(&home).join("bin/nvcc");
        return if nvcc.is_file() { Ok(nvcc) } else { Err(format!("{} is no file (CUDA_HOME)", nvcc.display())) };
    }
    // PATH itself is not watched: environments differ in it, and each difference would compile the whole crate again.
    let path = env::var_os("PATH").unwrap_or_default();
    let toolchain = root.join("target/toolchain");
    let found = env::split_paths(&path)
        .map(|d| d.join("nvcc"))
        .chain(["nvidia/cu13/bin/nvcc", "bin/nvcc"].map(|p| toolchain.join(p)))
        .find(|p| p.is_file());
    // Cargo runs a script again every time if it watches a path that does not exist. So without nvcc the folder is watched
    // into which `make deps` installs it, and is created first. A package has no `make deps`, and a tree that is read-only
    // has none either.
    if found.is_none() && root.join("tools/deps.sh").is_file() && fs::create_dir_all(&toolchain).is_ok() {
        println!("cargo:rerun-if-changed={}", toolchain.display());
    }
    found.ok_or_else(|| "nvcc was not found by NVCC, CUDA_HOME, PATH or in target/toolchain".to_owned())
}

fn nvcc_version(nvcc: &Path) -> Outcome<String> {
    let text = run(Command::new(nvcc).arg("--version"))?;
    // The last line but one reads "Cuda compilation tools, release 13.0, V13.0.88".
    text.rsplit_once(", V")
        .and_then(|(_, v)| v.split_whitespace().next())
        .map(str::to_owned)
        .ok_or_else(|| format!("{} --version gave no version", nvcc.display()))
}

/// `sm_90` and `90` mean machine code, `compute_80` PTX.
fn architectures(list: &str) -> Outcome<Vec<String>> {
    let list = if list.trim().is_empty() { DEFAULT_ARCHS } else { list };
    let mut archs = Vec::new();
    for item in list.split([',', ';', ' ']).filter(|i| !i.is_empty()) {
        let (kind, number) = match item.split_once('_') {
            Some((kind @ ("sm" | "compute"), number)) => (kind, number),
            None => ("sm", item),
            Some(_) => return Err(format!("PURLIN_CUDA_ARCHS: {item:?} is not like sm_90, 90 or compute_80")),
        };
        let digits = number.strip_suffix(['a', 'f']).unwrap_or(number);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(format!("PURLIN_CUDA_ARCHS: {item:?} is not like sm_90, 90 or compute_80"));
        }
        archs.push(format!("{kind}_{number}"));
    }
    Ok(archs)
}

/// One family for one architecture.
struct Image {
    family: String,
    /// As nvcc writes it: `sm_90`, `sm_90a`, `compute_80`.
    arch: String,
    unit: PathBuf,
}

impl Image {
    fn file(&self) -> String {
        format!("{}.{}.zst", self.family, self.arch)
    }
}

/// Compiles every family for every architecture, two images at a time; returns them in order.
fn compile_all(nvcc: &Path, version: &str, archs: &[String], sources: &Path, out: &Path) -> Outcome<Vec<Image>> {
    let mut images = Vec::new();
    for unit in files(sources, ".cu")? {
        let family = stem(&unit)?;
        for arch in archs {
            let is_featured = arch == "sm_90" && FEATURED.contains(&family.as_str());
            let arch = if is_featured { "sm_90a".to_owned() } else { arch.clone() };
            images.push(Image { family: family.clone(), arch, unit: unit.clone() });
        }
    }
    // target/PROFILE/build/purlin-base-HASH/out: the images are the same for every profile and feature.
    let cache = out.ancestors().nth(4).unwrap_or(out).join("purlin-kernels");
    fs::create_dir_all(&cache).map_err(|e| format!("{}: {e}", cache.display()))?;
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let work = || {
        while let Some(image) = images.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(problem) = compile(nvcc, version, image, &cache, out)
                && let Ok(mut slot) = failure.lock()
            {
                slot.get_or_insert(problem);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(work);
        }
    });
    match failure.into_inner().map_err(|_| "a compilation thread died")? {
        Some(problem) => Err(problem),
        None => Ok(images),
    }
}

/// Compiles one image unless the same sources were compiled by the same command before.
fn compile(nvcc: &Path, version: &str, image: &Image, cache: &Path, out: &Path) -> Outcome<()> {
    let kind = if image.arch.starts_with("compute_") { "--ptx" } else { "--cubin" };
    let arch = format!("--gpu-architecture={}", image.arch);
    let arguments = [kind, &arch, "-std=c++17", "-O3", "--expt-relaxed-constexpr"];
    let mut state = DefaultHasher::new();
    (version, arguments, LEVEL).hash(&mut state);
    hash_sources(&image.unit, &mut Vec::new(), &mut state)?;
    let made = cache.join(format!("{}.{}-{:016x}.zst", image.family, image.arch, state.finish()));
    if !made.is_file() {
        // Under names of its own until it is whole: builds of other profiles may run at the same time.
        let partial = cache.join(format!("{}.{}-{}.partial", image.family, image.arch, std::process::id()));
        run(Command::new(nvcc).args(arguments).arg("-o").arg(&partial).arg(&image.unit))?;
        let problem = |e| format!("{}: {e}", partial.display());
        let code = fs::read(&partial).map_err(problem)?;
        // With its length at the front of the frame.
        fs::write(&partial, zstd::bulk::compress(&code, LEVEL).map_err(problem)?).map_err(problem)?;
        fs::rename(&partial, &made).map_err(|e| format!("{}: {e}", made.display()))?;
    }
    let wanted = out.join(image.file());
    fs::copy(&made, &wanted).map(|_| ()).map_err(|e| format!("{}: {e}", wanted.display()))
}

/// Hashes a source and the headers of its own folder that it includes, each once.
fn hash_sources(path: &Path, seen: &mut Vec<PathBuf>, state: &mut DefaultHasher) -> Outcome<()> {
    if seen.iter().any(|p| p == path) {
        return Ok(());
    }
    seen.push(path.to_owned());
    let text = read(path)?;
    (path.file_name(), &text).hash(state);
    for line in text.lines().filter_map(|l| l.trim_start().strip_prefix("#include \"")) {
        let header = path.with_file_name(line.split('"').next().unwrap_or_default());
        if header.is_file() {
            hash_sources(&header, seen, state)?;
        }
    }
    Ok(())
}

/// The files of a folder whose names end so, in order.
fn files(dir: &Path, ending: &str) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.ends_with(ending)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Rust source with the images in `out`, each a static of its own, so that a list of symbols shows their sizes.
fn embedding(images: &[Image], out: &Path) -> Outcome<String> {
    let mut text = String::from("pub(super) static IMAGES: &[Image] = &[\n");
    for image in images {
        let (kind, number) = image.arch.split_once('_').ok_or("an architecture without a number")?;
        let code = match (number.strip_suffix('a'), number.trim_end_matches('f')) {
            (Some(number), _) => format!("Code::Only({number})"),
            (None, number) if kind == "compute" => format!("Code::Intermediate({number})"),
            (None, number) => format!("Code::Machine({number})"),
        };
        let file = image.file();
        let bytes = fs::metadata(out.join(&file)).map_err(|e| format!("{file}: {e}"))?.len();
        // Writing into a string cannot fail.
        let _ = writeln!(
            text,
            "    Image {{ family: {:?}, code: {code}, frame: {{ static FRAME: [u8; {bytes}] = \
             *include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\")); &FRAME }} }},",
            image.family
        );
    }
    text.push_str("];\n");
    Ok(text)
}

/// Rust constants for the `#define PURLIN_X <integer>` lines of the header.
fn launch_constants(header: &Path) -> Outcome<String> {
    let mut text = String::new();
    for line in read(header)?.lines() {
        let mut words = line.split_whitespace();
        let (Some("#define"), Some(name), Some(value)) = (words.next(), words.next(), words.next()) else { continue };
        if let (true, Ok(number)) = (name.starts_with("PURLIN_"), value.parse::<i32>()) {
            let short = name.trim_start_matches("PURLIN_LAUNCH_").trim_start_matches("PURLIN_");
            let _ = writeln!(text, "/// `{name}`.\npub const {short}: i32 = {number};");
        }
    }
    Ok(text)
}

fn stem(path: &Path) -> Outcome<String> {
    path.file_stem().and_then(|s| s.to_str()).map(str::to_owned).ok_or_else(|| format!("{}: no name", path.display()))
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Leaves the file alone if it is right already, so that nothing downstream is rebuilt.
fn write_if_changed(path: &Path, text: &str) -> Outcome<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

fn run(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|e| format!("{:?}: {e}", command.get_program()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)))
}
