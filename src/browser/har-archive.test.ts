import { describe, expect, test } from 'bun:test'
import { ArchiveError, isZip, readHarArchive } from './har-archive.ts'
import { MAX_ATTACHMENT_BYTES } from './har-body.ts'
import { requestsOfHar } from './har-requests.ts'
import { type ZippedFile, zipOf } from './zip.fixture.ts'

const MIB = 1024 * 1024
const LIMITS = { harBytes: 4 * MIB, attachmentBytes: 2 * MIB, entries: 100 }
const URL = 'https://t.example/collect'

const harWith = (...files: unknown[]) =>
  JSON.stringify({
    log: {
      entries: files.map((file) => ({
        request: { url: URL, method: 'POST', postData: { mimeType: 'text/plain', text: '', _file: file } },
      })),
    },
  })

/** Returns the body of each request, or the reason why it is missing. */
async function bodiesOf(files: ZippedFile[], limits = LIMITS) {
  const { value, attachmentOf } = await readHarArchive(zipOf(files), limits)
  return (requestsOfHar(value, attachmentOf) ?? []).map(
    ({ hit }) => hit.missingBody?.reason ?? hit.body ?? hit.bodyBase64,
  )
}

const noise = (bytes: number) => crypto.getRandomValues(Buffer.alloc(Math.min(bytes, 65_536))).toString('latin1')

describe('a HAR archive', () => {
  test.each<[string, ZippedFile[]]>([
    [
      'packed',
      [
        { name: 'har.har', content: harWith('a.dat') },
        { name: 'a.dat', content: 'en=scroll' },
      ],
    ],
    [
      'stored',
      [
        { name: 'har.har', content: harWith('a.dat'), isStored: true },
        { name: 'a.dat', content: 'en=scroll' },
      ],
    ],
    [
      'in a folder',
      [
        { name: 'x/y.har', content: harWith('a.dat') },
        { name: 'x/a.dat', content: 'en=scroll' },
      ],
    ],
    [
      'created by macOS',
      [
        { name: 'x.har', content: harWith('a.dat') },
        { name: '__MACOSX/._x.har', content: 'x' },
        { name: 'a.dat', content: 'en=scroll' },
      ],
    ],
    [
      'with a byte order mark',
      [
        { name: 'x.har', content: `\ufeff${harWith('a.dat')}` },
        { name: 'a.dat', content: 'en=scroll' },
      ],
    ],
  ])('%s contains the bodies of its requests', async (_, files) => {
    expect(await bodiesOf(files)).toEqual(['en=scroll'])
  })

  test('returns either a body or a reason for each request', async () => {
    const files = [
      { name: 'x.har', content: harWith('a.dat', 'none.dat', 'b.dat', 'big.dat', 'secret.dat', 5, '', 'a.dat') },
      { name: 'a.dat', content: 'en=a' },
      { name: 'b.dat', content: Buffer.from([0x1f, 0x8b, 8, 0]) },
      { name: 'big.dat', content: 'x'.repeat(MAX_ATTACHMENT_BYTES + 1) },
      { name: 'secret.dat', content: 'en=a', isEncrypted: true },
    ]
    expect(await bodiesOf(files)).toEqual([
      'en=a',
      'stored in the attachment "none.dat", which is not in the archive',
      'H4sIAA==',
      `the attachment "big.dat" is larger than ${MAX_ATTACHMENT_BYTES} bytes`,
      'the attachment "secret.dat" is encrypted',
      'missing from the recording',
      'missing from the recording',
      'en=a',
    ])
  })

  test.each(['../a.dat', '/etc/passwd', 'x/../a.dat', './a.dat', '..\\a.dat', '__proto__', 'constructor'])(
    'finds the attachment %j only by the exact name of an entry',
    async (name) => {
      const files = [
        { name: 'x.har', content: harWith(name) },
        { name: 'a.dat', content: 'en=a' },
      ]
      const [body] = await bodiesOf(files)
      expect(body).toEndWith('which is not in the archive')
    },
  )

  test.each<[string, ZippedFile[], string]>([
    ['without a HAR', [{ name: 'a.txt', content: 'x' }], 'contains no .har file'],
    ['without anything', [], 'contains no .har file'],
    [
      'with two HARs',
      [
        { name: 'a.har', content: '{}' },
        { name: 'b.har', content: '{}' },
      ],
      'contains 2 .har files; only one is allowed',
    ],
    ['whose HAR is not JSON', [{ name: 'a.har', content: 'x' }], '"a.har" is not valid JSON'],
    [
      'with a path that leaves the folder',
      [{ name: '../a.har', content: '{}' }],
      'is not a readable ZIP archive: invalid relative path',
    ],
    ['with an absolute path', [{ name: '/a.har', content: '{}' }], 'is not a readable ZIP archive: absolute path'],
    ['whose HAR is encrypted', [{ name: 'a.har', content: '{}', isEncrypted: true }], '"a.har" is encrypted'],
    [
      'whose HAR is too large',
      [{ name: 'a.har', content: noise(65_536).repeat(100) }],
      `"a.har" is larger than ${LIMITS.harBytes} bytes`,
    ],
    [
      'whose HAR is a bomb',
      [{ name: 'a.har', content: ' '.repeat(3 * MIB) }],
      '"a.har" unpacks to more than 200 times its size',
    ],
    [
      'whose HAR is a bomb that claims to be small',
      [{ name: 'a.har', content: ' '.repeat(200 * MIB), claimedBytes: 1000 }],
      '"a.har" is damaged',
    ],
    [
      'whose HAR is a bomb that claims a smaller compressed size',
      [{ name: 'a.har', content: ' '.repeat(3 * MIB), claimedPackedBytes: 3 * MIB }],
      '"a.har" is damaged',
    ],
  ])('%s is rejected', async (_, files, message) => {
    const reading = readHarArchive(zipOf(files), LIMITS)
    await expect(reading).rejects.toBeInstanceOf(ArchiveError)
    await expect(reading).rejects.toThrow(message)
  })

  test('with too many entries is rejected, whether or not it declares them', async () => {
    const many = Array.from({ length: 101 }, (_, n) => ({ name: `${n}.dat`, content: '' }))
    await expect(readHarArchive(zipOf(many), LIMITS)).rejects.toThrow('contains more than 100 files')
    await expect(readHarArchive(zipOf(many.slice(0, 2), 65_000), LIMITS)).rejects.toThrow(
      'contains more than 100 files',
    )
  })

  test('unpacks attachments of up to a maximum size, once each', async () => {
    const content = 'x'.repeat(MIB)
    const names = ['a', 'b', 'c', 'd']
    const files = [
      { name: 'x.har', content: harWith('a', 'a', 'b', 'c', 'd') },
      ...names.map((name) => ({ name, content, isStored: true })),
    ]
    const reasons = (await bodiesOf(files)).map((body) => (body === content ? 'read' : body))
    expect(reasons.slice(0, 3)).toEqual(['read', 'read', 'read'])
    for (const reason of reasons.slice(3)) expect(reason).toContain('exceeds the limit for all attachments')
  })

  test('unpacks nothing beyond the total limit for attachments', async () => {
    const files = [
      { name: 'x.har', content: harWith('a', 'b') },
      { name: 'a', content: 'x'.repeat(10) },
      { name: 'b', content: 'x'.repeat(10), claimedPackedBytes: 1 },
    ]
    const reasons = await bodiesOf(files, { ...LIMITS, attachmentBytes: 15 })
    expect(reasons).toEqual(['x'.repeat(10), 'the attachment "b" exceeds the limit for all attachments'])
  })

  test('that is truncated or modified anywhere is read or rejected without any other error', async () => {
    const whole = zipOf([
      { name: 'x.har', content: harWith('a.dat') },
      { name: 'a.dat', content: 'en=a' },
    ])
    const variants = [...whole.keys()].flatMap((at) => {
      const changed = Uint8Array.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 0xff
      return [whole.slice(0, at), changed]
    })
    for (const variant of variants) {
      const result = await readHarArchive(variant, LIMITS).catch((error: unknown) => error)
      if (result instanceof Error) expect(result).toBeInstanceOf(ArchiveError)
    }
  })

  test.each<[boolean, Uint8Array]>([
    [true, zipOf([{ name: 'a', content: '' }])],
    [true, zipOf([])],
    [false, Buffer.from('{"log":')],
    [false, Buffer.from('PK')],
    [false, Buffer.from('')],
  ])('is recognised by its first bytes: %p', (expected, bytes) => {
    expect(isZip(bytes)).toBe(expected)
  })
})
