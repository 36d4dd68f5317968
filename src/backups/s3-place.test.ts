import { expect, test } from 'bun:test'
import { randomFillSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesOf, killedFolder } from '../../test/hostile/killed-server-folder.ts'
import { temporaryFolder } from '../../test/run-program.ts'
import { DAY_MS, MINUTE_MS } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { checkBackup } from './check-backup.ts'
import { createBackup } from './create-backup.ts'
import { restoreBackup } from './restore-backup.ts'
import { s3Place } from './s3-place.ts'
import { S3_KEY, s3Server } from './s3-server.fixture.ts'

const unexpected = (message: string) => {
  throw new Error(message)
}

test('a backup in a bucket is restored, adds only what is new, and expires with the files that no other backup uses', async () => {
  using root = temporaryFolder()
  await using server = s3Server()
  const data = join(root.path, 'data')
  await killedFolder(data)
  const place = s3Place('s3://bucket/some/prefix', server.env)
  expect(place.title).toBe('s3://bucket/some/prefix/')
  let at = Date.UTC(2026, 0, 5, 3)
  const clock = { now: () => (at += MINUTE_MS) }
  const back = (keep: number | null) => createBackup({ folder: data, place, keep, clock, warn: unexpected })
  const first = await back(null)
  expect(first.addedBytes).toBe(first.bytes)
  const uploaded = server.objects.size
  const restored = join(root.path, 'restored')
  await restoreBackup(place, first.name, restored)
  const before = bytesOf(data)
  for (const [file, bytes] of bytesOf(restored))
    if (/^(?:events|spool|master)/.test(file)) expect([file, before.get(file)?.equals(bytes)]).toEqual([file, true])

  const second = await back(null)
  // The database has changed, because it lists the first backup.
  expect(server.objects.size).toBe(uploaded + 3)
  expect(second.addedBytes).toBeLessThan(first.bytes)
  const left = 'some/prefix/files/left-by-a-killed-backup'
  server.objects.set(left, { bytes: Buffer.from('x'), at: new Date(Date.now() - 2 * DAY_MS) })
  server.objects.set('some/prefix-of-others/file', { bytes: Buffer.from('x'), at: new Date(0) })
  await back(1)
  expect(await place.names()).toHaveLength(1)
  // The files of one backup, its list and checksum, and the file of others.
  expect(server.objects.size).toBe(uploaded + 1)
  expect(server.objects.has(left)).toBe(false)
  for (const name of await place.names()) expect((await checkBackup(place, name)).faults).toEqual([])
})

test('a file of several parts is stored whole, and every damaged object is named', async () => {
  using root = temporaryFolder()
  await using server = s3Server()
  const data = join(root.path, 'data')
  await killedFolder(data)
  mkdirSync(join(data, 'spool/late'), { recursive: true })
  writeFileSync(join(data, 'spool/late/org_large.ndjson'), randomFillSync(Buffer.alloc(40 * 2 ** 20)))
  const place = s3Place('s3://bucket', server.env)
  const { name } = await createBackup({ folder: data, place, keep: null, clock: { now: () => 1 }, warn: unexpected })
  expect(server.requests.filter((request) => request.includes(' partNumber uploadId')).length).toBeGreaterThanOrEqual(3)
  expect((await checkBackup(place, name)).faults).toEqual([])
  const manifest = await place.manifest(name)
  for (const { path, sha256 } of manifest.files) {
    const key = `files/${sha256}`
    const stored = server.objects.get(key)
    if (!stored) throw new Error(`${path} is not stored`)
    const flipped = Buffer.from(stored.bytes)
    const middle = Math.floor(flipped.length / 2)
    flipped.writeUInt8(flipped.readUInt8(middle) ^ 1, middle)
    server.objects.set(key, { ...stored, bytes: flipped })
    expect((await checkBackup(place, name)).faults.map(({ path }) => path)).toEqual([path])
    server.objects.delete(key)
    expect((await checkBackup(place, name)).faults.map(({ path }) => path)).toEqual([path])
    server.objects.set(key, stored)
  }
}, 120_000)

test.each<[string, Record<string, string>, string, RegExp]>([
  ['no credentials', { AWS_ACCESS_KEY_ID: '' }, 's3://bucket', /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/],
  ['an invalid address', {}, 's3://', /s3:\/\/bucket\/prefix/],
  ['an address with credentials', {}, 's3://key:secret@bucket/x', /s3:\/\/bucket\/prefix/],
  ['wrong credentials', { AWS_SECRET_ACCESS_KEY: 'guessed' }, 's3://bucket', /SignatureDoesNotMatch/],
  ['a missing bucket', {}, 's3://other', /NoSuchBucket/],
])('%s: the error says so and contains no secret', async (_, env, address, expected) => {
  await using server = s3Server()
  const attempt = async () => s3Place(address, { ...server.env, ...env }).names()
  const message = await attempt().then(() => '', messageOf)
  expect(message).toMatch(expected)
  expect(message).not.toContain(S3_KEY.secret)
})
