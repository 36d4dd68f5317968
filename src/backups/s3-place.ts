import { createReadStream } from 'node:fs'
import type { S3Client, S3File } from 'bun'
import { DAY_MS } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { BackupDamage, type BackupFile, readManifest, writeManifest } from './backup-manifest.ts'
import type { BackupDraft, BackupPlace } from './backup-place.ts'

/** Files of at least this size are uploaded in parts of this size, of which at most two are in memory. */
const PART_BYTES = 16 * 2 ** 20
const UPLOAD = { partSize: PART_BYTES, queueSize: 2, retry: 3 }
const CHUNK_BYTES = 2 ** 20
/** Number of objects in a response of `ListObjectsV2`. */
const LIST_KEYS = 1000
/** Younger files that no backup lists may belong to a backup that is being made. */
const LEFTOVER_MS = DAY_MS

/** The standard variables of AWS that select the service and the credentials. */
const VARIABLES = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'AWS_ENDPOINT_URL',
  'AWS_ENDPOINT_URL_S3',
] as const

/** Returns the variables that `s3Place` reads, for another process. */
export function s3Environment(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
}

/**
 * Backups in a bucket, `s3://bucket/prefix`. A file is stored once as `files/<sha256>`, and its backups are listed in
 * `backups/<name>.json`. Credentials, region and endpoint are read from the standard variables of AWS.
 */
export function s3Place(address: string, env: NodeJS.ProcessEnv): BackupPlace {
  const [, bucket, path = ''] = /^s3:\/\/([a-z\d][a-z\d.-]{2,62})(?:\/([^?#]*))?$/.exec(address) ?? []
  if (bucket === undefined) throw new AppError('invalid', 'an S3 address must have the format s3://bucket/prefix')
  const prefix = path.replace(/\/*$/, path === '' ? '' : '/')
  const s3 = clientOf(bucket, env)
  const manifestKey = (name: string) => `${prefix}backups/${name}.json`
  const fileKey = ({ sha256 }: Pick<BackupFile, 'sha256'>) => `${prefix}files/${sha256}`
  const manifest = async (name: string) => {
    const key = manifestKey(name)
    const [json, checksum] = await Promise.all([textOf(s3.file(key)), textOf(s3.file(`${key}.sha256`))])
    return readManifest(json, checksum)
  }
  const names = async () => {
    const found = await listKeys(s3, `${prefix}backups/`)
    return found.flatMap(({ key }) => /([\w-]+)\.json$/.exec(key)?.[1] ?? []).toSorted()
  }
  return {
    title: `s3://${bucket}/${prefix}`,
    names,
    manifest,
    async *read(_, file) {
      try {
        yield* s3.file(fileKey(file)).stream() as unknown as AsyncIterable<Uint8Array>
      } catch (error) {
        if (isMissing(error)) throw new BackupDamage(`${file.path} is missing (${fileKey(file)})`)
        throw error
      }
    },
    identityOf: (_, file) => fileKey(file),
    async begin(): Promise<BackupDraft> {
      const stored = new Set((await listKeys(s3, `${prefix}files/`)).map(({ key }) => key))
      return {
        async add({ source, bytes }, earlier) {
          const sha256 = earlier?.file.sha256 ?? (await hashOf(source))
          const key = fileKey({ sha256 })
          if (stored.has(key)) return { sha256, added: 0 }
          await upload(s3, key, source, bytes)
          stored.add(key)
          return { sha256, added: bytes }
        },
        async finish(manifest) {
          const { json, checksum } = writeManifest(manifest)
          await s3.write(`${manifestKey(manifest.name)}.sha256`, checksum)
          // A backup exists as soon as its list exists.
          await s3.write(manifestKey(manifest.name), json)
        },
        // Uploaded files are used by the next backup, or deleted with the next backup that expires.
        discard: async () => {},
      }
    },
    async remove(name) {
      const own = new Set((await manifest(name)).files.map(fileKey))
      await s3.delete(manifestKey(name))
      await s3.delete(`${manifestKey(name)}.sha256`)
      const used = new Set<string>()
      for (const other of await names()) for (const file of (await manifest(other)).files) used.add(fileKey(file))
      const files = await listKeys(s3, `${prefix}files/`)
      const newest = Math.max(...files.map(({ at }) => at))
      const isLeft = ({ key, at }: StoredObject) => !used.has(key) && (own.has(key) || at < newest - LEFTOVER_MS)
      for (const { key } of files.filter(isLeft)) await s3.delete(key)
    },
  }
}

function clientOf(bucket: string, env: NodeJS.ProcessEnv): S3Client {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (!accessKeyId || !secretAccessKey)
    throw new AppError('invalid', 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for an s3:// address')
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION
  return new Bun.S3Client({
    bucket,
    accessKeyId,
    secretAccessKey,
    ...(env.AWS_SESSION_TOKEN ? { sessionToken: env.AWS_SESSION_TOKEN } : {}),
    ...(endpoint ? { endpoint } : {}),
    ...(region ? { region } : {}),
  })
}

interface StoredObject {
  key: string
  /** Time of the upload. */
  at: number
}

async function listKeys(s3: S3Client, prefix: string): Promise<StoredObject[]> {
  const found: StoredObject[] = []
  for (let token: string | undefined; ; ) {
    const page = await s3.list({ prefix, maxKeys: LIST_KEYS, ...(token ? { continuationToken: token } : {}) })
    for (const { key, lastModified } of page.contents ?? []) found.push({ key, at: Date.parse(String(lastModified)) })
    token = page.nextContinuationToken
    if (!page.isTruncated || !token) return found
  }
}

async function textOf(file: S3File): Promise<string> {
  try {
    return await file.text()
  } catch (error) {
    if (isMissing(error)) throw new BackupDamage(`${file.name} is missing`)
    throw error
  }
}

const isMissing = (error: unknown) => (error as { code?: unknown }).code === 'NoSuchKey'

async function hashOf(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

async function upload(s3: S3Client, key: string, source: string, bytes: number): Promise<void> {
  if (bytes < PART_BYTES) {
    await s3.write(key, await Bun.file(source).bytes(), { retry: UPLOAD.retry })
    return
  }
  const writer = s3.file(key).writer(UPLOAD)
  for await (const chunk of createReadStream(source, { highWaterMark: PART_BYTES })) {
    await writer.write(chunk as Buffer)
    await writer.flush()
  }
  await writer.end()
}
