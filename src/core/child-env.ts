/** Variables that say how programs run on this machine. */
const MACHINE = ['PATH', 'LD_LIBRARY_PATH', 'LANG', 'LC_ALL', 'TZ', 'FONTCONFIG_FILE', 'FONTCONFIG_PATH']

/** What this program itself needs beside those: its folders, its threads, and whom it trusts. */
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
 * Returns the environment of another program that this one starts: what the machine requires, and `own`. Settings,
 * secrets, and variables that redirect connections (`HTTP_PROXY`, `NO_PROXY`) are not in it.
 */
export function childEnv(own: Record<string, string> = {}): Record<string, string> {
  return { ...picked(MACHINE), ...own }
}

/** Returns the environment of another process of this program; as `childEnv`, with what the program itself needs. */
export function ownChildEnv(): Record<string, string> {
  return picked([...MACHINE, ...PROGRAM])
}

function picked(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}
