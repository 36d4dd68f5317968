import { closeSync, openSync } from 'node:fs'

/** Makes an empty file that nobody but its owner may read, unless there is one already. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600))
}
