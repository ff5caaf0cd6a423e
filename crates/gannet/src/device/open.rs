//! Opening a folder with the backend that fits the machine.

use std::path::Path;
use std::sync::Arc;

use super::Device;
use super::directory::Directory;
use super::file_device::FileDevice;
use super::options::{Access, BackendChoice, OpenOptions};
use super::pread::Pread;
#[cfg(target_os = "linux")]
use super::uring::Uring;
use crate::base::Result;

/// Opens the index folder `path`, and locks it for as long as the device lives if it is to be
/// written.
///
/// # Errors
///
/// [`Error::Invalid`](crate::base::Error::Invalid) when the path is missing or no folder, or when
/// the chosen backend does not work here; [`Error::Format`](crate::base::Error::Format) when the
/// folder holds no index and none may be made; [`Error::Locked`](crate::base::Error::Locked) when
/// another process writes too; [`Error::Device`](crate::base::Error::Device) when the file system
/// fails.
pub fn open_directory(path: &Path, options: &OpenOptions) -> Result<Arc<dyn Device>> {
    with_engine(options.backend, || Directory::open(path, options))
}

/// Opens the folder of a flash tier, which is made if it is missing, and locks it for as long as
/// the device lives. Its one file is [`FileId::Tier`](super::FileId::Tier).
///
/// # Errors
///
/// The same as of [`open_directory`]; a folder that has anything else in it is
/// [`Error::Invalid`](crate::base::Error::Invalid).
pub fn open_tier(path: &Path, backend: BackendChoice) -> Result<Arc<dyn Device>> {
    with_engine(backend, || Directory::open_tier(path, Access::Write))
}

/// Opens the folder of a flash tier that another process writes, to read it.
///
/// # Errors
///
/// The same as of [`open_tier`], but for the lock.
pub fn open_tier_to_read(path: &Path, backend: BackendChoice) -> Result<Arc<dyn Device>> {
    with_engine(backend, || Directory::open_tier(path, Access::Read))
}

/// Opens the folder of answers in that of a flash tier. To write, it is made if it is missing and
/// locked for as long as the device lives; any number read beside that. Its one file is
/// [`FileId::Answers`](super::FileId::Answers).
///
/// # Errors
///
/// The same as of [`open_tier`]; a folder that is a link or belongs to another user is
/// [`Error::Invalid`](crate::base::Error::Invalid).
pub fn open_answers(
    path: &Path,
    backend: BackendChoice,
    access: Access,
) -> Result<Arc<dyn Device>> {
    with_engine(backend, || Directory::open_answers(path, access))
}

fn with_engine(
    backend: BackendChoice,
    open: impl FnOnce() -> Result<Directory>,
) -> Result<Arc<dyn Device>> {
    #[cfg(target_os = "linux")]
    if backend != BackendChoice::Pread {
        match Uring::open() {
            Ok(uring) => return Ok(Arc::new(FileDevice::new(open()?, uring))),
            Err(error) if backend == BackendChoice::Uring => return Err(error),
            Err(_) => {}
        }
    }
    #[cfg(not(target_os = "linux"))]
    if backend == BackendChoice::Uring {
        return Err(crate::base::Error::invalid(
            "io_uring exists on Linux only: choose the backend pread or auto",
        ));
    }
    Ok(Arc::new(FileDevice::new(open()?, Pread::default())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Error, PAGE_SIZE};
    use crate::device::conformance::conformance;
    use crate::device::{Backend, FileId, PagePool, Transfer};

    const FRESH: OpenOptions = OpenOptions {
        backend: BackendChoice::Auto,
        access: Access::Write,
        create: true,
    };

    /// A folder that is most likely on a real file system: beside the test program.
    fn folder() -> tempfile::TempDir {
        let program = std::env::current_exe().unwrap();
        tempfile::tempdir_in(program.parent().unwrap()).unwrap()
    }

    fn conforms(backend: BackendChoice) {
        let options = OpenOptions { backend, ..FRESH };
        let root = folder();
        let count = std::cell::Cell::new(0);
        conformance(|| {
            count.set(count.get() + 1);
            let path = root.path().join(count.get().to_string());
            open_directory(&path, &options).unwrap()
        });
    }

    #[cfg(target_os = "linux")]
    fn uring_works() -> bool {
        Uring::open().is_ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn uring_works() -> bool {
        false
    }

    #[test]
    fn pread_conforms() {
        conforms(BackendChoice::Pread);
    }

    #[test]
    fn uring_conforms() {
        if uring_works() {
            conforms(BackendChoice::Uring);
        }
    }

    #[test]
    fn auto_prefers_the_ring() {
        let root = folder();
        let device = open_directory(root.path(), &FRESH).unwrap();
        assert_eq!(device.backend() == Backend::Uring, uring_works());
    }

    #[test]
    fn wrong_paths_are_rejected_in_words() {
        let root = folder();
        let open = |path: &Path| {
            let options = OpenOptions {
                create: false,
                ..FRESH
            };
            open_directory(path, &options).err().unwrap()
        };
        let missing = root.path().join("missing");
        let error = open(&missing);
        assert!(matches!(error, Error::Invalid(_)), "{error}");
        assert!(error.to_string().contains(missing.to_str().unwrap()));

        let file = root.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let error = open(&file);
        assert!(matches!(error, Error::Invalid(_)), "{error}");

        assert!(matches!(open(root.path()), Error::Format { .. }));
        assert!(!root.path().join("LOCK").exists());
    }

    #[test]
    fn the_lock_lives_as_long_as_the_device() {
        let root = folder();
        let path = root.path().join("deep/index");
        let device = open_directory(&path, &FRESH).unwrap();
        let second = open_directory(&path, &FRESH).err().unwrap();
        assert!(matches!(second, Error::Locked { .. }), "{second}");
        device.create(FileId::Superblock).unwrap();
        drop(device);

        let reading = OpenOptions {
            access: Access::Read,
            create: false,
            ..FRESH
        };
        let readers = [(); 2].map(|()| open_directory(&path, &reading).unwrap());
        open_directory(&path, &FRESH).unwrap();
        assert!(readers[0].create(FileId::Zone(1)).is_err());
        assert!(readers[0].write(&mut []).is_err());
        assert!(readers[0].remove(FileId::Superblock).is_err());
        assert_eq!(readers[1].list().unwrap(), [(FileId::Superblock, 0)]);
    }

    #[test]
    fn parts_of_pages_do_not_exist() {
        let root = folder();
        let device = open_directory(root.path(), &FRESH).unwrap();
        for length in [100, 512, PAGE_SIZE + 700] {
            let path = root.path().join(FileId::Superblock.name());
            std::fs::write(path, vec![1; length]).unwrap();
            let pages = (length / PAGE_SIZE) as u32;
            assert_eq!(device.list().unwrap(), [(FileId::Superblock, pages)]);
            let pool = PagePool::new(1);
            let buffers = vec![pool.take().unwrap()];
            let past = device.read(&mut [Transfer {
                file: FileId::Superblock,
                page: pages,
                buffers,
            }]);
            assert!(past.is_err(), "{length}");
        }
    }

    /// Bytes that the operating system says this process has had from and given to block devices.
    #[cfg(target_os = "linux")]
    fn bytes_by_the_system() -> (u64, u64) {
        let text = std::fs::read_to_string("/proc/self/io").unwrap();
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap().trim().parse().unwrap()
        };
        (field("read_bytes:"), field("write_bytes:"))
    }

    #[cfg(target_os = "linux")]
    fn is_tmpfs(path: &Path) -> bool {
        rustix::fs::statfs(path).unwrap().f_type as u64 == 0x0102_1994
    }

    #[cfg(target_os = "linux")]
    fn zone_transfers(pool: &PagePool, pages: u32, each: u32) -> Vec<Transfer> {
        let one = |at: u32| Transfer {
            file: FileId::Zone(0),
            page: at * each,
            buffers: (0..each).map(|_| pool.take().unwrap()).collect(),
        };
        (0..pages / each).map(one).collect()
    }

    /// Reads and writes 16 MiB with each backend; alone in its process, since the system counts all
    /// of it.
    #[cfg(target_os = "linux")]
    #[test]
    #[ignore = "run in a process of its own by counters_equal_the_systems"]
    fn counters_equal_the_systems_alone() {
        for backend in [BackendChoice::Auto, BackendChoice::Pread] {
            let root = folder();
            let options = OpenOptions { backend, ..FRESH };
            let device = open_directory(root.path(), &options).unwrap();
            if is_tmpfs(root.path()) || !device.is_direct() {
                eprintln!("skipped: {} has no O_DIRECT", root.path().display());
                return;
            }
            let pool = PagePool::new(4_096);
            device.create(FileId::Zone(0)).unwrap();
            let before = bytes_by_the_system();
            device.write(&mut zone_transfers(&pool, 4_096, 64)).unwrap();
            device.read(&mut zone_transfers(&pool, 4_096, 1)).unwrap();
            let after = bytes_by_the_system();
            let counted = device.counters().snapshot();
            expect_close(after.0 - before.0, counted.read_bytes);
            expect_close(after.1 - before.1, counted.written_bytes);
        }
    }

    #[cfg(target_os = "linux")]
    fn expect_close(system: u64, counted: u64) {
        let difference = system.abs_diff(counted);
        assert!(difference * 100 <= counted, "{system} is not {counted}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn counters_equal_the_systems() {
        let name = "device::open::tests::counters_equal_the_systems_alone";
        let run = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--ignored"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && text.contains("1 passed"), "{text}");
    }
}
