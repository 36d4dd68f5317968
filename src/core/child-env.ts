/** Environment variables that any program on this machine requires. */
const MACHINE = ['PATH', 'LD_LIBRARY_PATH', 'LANG', 'LC_ALL', 'TZ', 'FONTCONFIG_FILE', 'FONTCONFIG_PATH']

/** Additional variables for processes of this program: folders, threads and trusted certificates. */
const PROGRAM = [
  'HOME',
  'TMPDIR',
  'XDG_CACHE_HOME',
  'UV_THREADPOOL_SIZE',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
]

/**
 * Returns the environment for a child process that runs another program: the variables in `MACHINE`, plus `own`.
 * Excludes settings, secrets and variables that redirect connections (`HTTP_PROXY`, `NO_PROXY`).
 */
export function childEnv(own: Record<string, string> = {}): Record<string, string> {
  return { ...picked(MACHINE), ...own }
}

/**
 * Returns the environment for another process of this program: `childEnv` plus folders, threads and trusted certificates.
 */
export function workerEnv(own: Record<string, string> = {}): Record<string, string> {
  return { ...picked([...MACHINE, ...PROGRAM]), ...own }
}

function picked(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}
