import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unpackTar } from 'modern-tar'

const FOLDERS = join(import.meta.dir, 'folders')

/** Schemas of the recorded data folders, in ascending order. See `record-folders.ts`. */
export const RECORDED_SCHEMAS: readonly number[] = readdirSync(FOLDERS)
  .map((name) => Number(/^schema-(\d+)\.tar\.gz$/.exec(name)?.[1]))
  .sort((a, b) => a - b)

/** Replaces the content of `folder` with a recorded data folder. */
export async function unpackRecorded(schema: number, folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { mode: 0o700 })
  const packed = await Bun.file(join(FOLDERS, `schema-${String(schema).padStart(2, '0')}.tar.gz`)).bytes()
  for (const { header, data } of await unpackTar(Bun.gunzipSync(packed))) {
    const path = join(folder, header.name)
    if (header.type === 'directory') {
      mkdirSync(path, { recursive: true, mode: header.mode })
    } else if (data) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, data, { mode: header.mode })
    }
  }
}
