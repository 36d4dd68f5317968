import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dir, '../..')
const GENERATED = join(ROOT, '.generated')
/** The folder from which pages import the client, as `#client/…` in `package.json`. Never committed. */
const FOLDER = join(GENERATED, 'client')
const DESCRIPTION = join(ROOT, 'docs/openapi.json')
const MARK = 'made-from'
const PLUGINS = ['@hey-api/client-fetch', '@hey-api/sdk', '@hey-api/typescript', '@tanstack/react-query'] as const

/**
 * Generates the client with which pages call `/v1`, including the options for TanStack Query, from `docs/openapi.json`.
 * Does nothing when the client exists and the API description is unchanged. Throws when the description can't be read.
 */
export async function generateClient(): Promise<void> {
  const mark = currentMark()
  if (storedMark() === mark) return
  // Another process may generate the client at the same time. Each process writes to its own folder, and the first one
  // to finish moves its folder to the final path.
  await mkdir(GENERATED, { recursive: true })
  const draft = await mkdtemp(join(GENERATED, 'draft-'))
  const { createClient } = await import('@hey-api/openapi-ts')
  await createClient({
    input: DESCRIPTION,
    output: join(draft, 'client'),
    plugins: [...PLUGINS],
    // Without these options, the generator writes crash reports to the working folder and offers to publish them.
    logs: { level: 'silent', file: false },
    interactive: false,
  })
  await writeFile(join(draft, 'client', MARK), mark)
  if (storedMark() !== mark) {
    await rm(FOLDER, { recursive: true, force: true })
    await rename(join(draft, 'client'), FOLDER)
  }
  await rm(draft, { recursive: true })
}

/** Returns a hash of the API description and the packages. */
function currentMark(): string {
  const sources = [DESCRIPTION, join(ROOT, 'bun.lock')].map((path) => readFileSync(path, 'utf8'))
  return Bun.hash(sources.join()).toString(36)
}

function storedMark(): string | null {
  const file = join(FOLDER, MARK)
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}
