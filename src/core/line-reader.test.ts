import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type FileLine, linesIn, MAX_LINE_BYTES } from './line-reader.ts'

/** Reads bytes that arrive in chunks of these sizes. The last size is repeated. */
async function read(bytes: Buffer, sizes: readonly number[]): Promise<FileLine[]> {
  async function* parts() {
    for (let at = 0, n = 0; at < bytes.length; n++) {
      const size = sizes[Math.min(n, sizes.length - 1)] ?? bytes.length
      yield bytes.subarray(at, at + size)
      at += size
    }
  }
  const lines: FileLine[] = []
  for await (const line of linesIn(parts())) lines.push(line)
  return lines
}

test('non-blank lines are read with their positions, regardless of how the bytes are split', async () => {
  const line = fc.oneof(fc.constantFrom('', ' ', '\r', '{"a":"é😀"}', '{}\r'), fc.string({ unit: 'grapheme' }))
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(fc.array(line), sizes, fc.boolean(), async (texts, sizes, isEnded) => {
      const whole = texts.join('\n') + (isEnded ? '\n' : '')
      const expected = whole
        .split('\n')
        .map((text, index) => ({ row: index + 1, text: index === 0 ? text.replace(/^\uFEFF/, '') : text }))
        .filter(({ text }) => text.trim() !== '')
      expect(await read(Buffer.from(whole), sizes)).toEqual(expected)
    }),
  )
})

test('a byte order mark is not part of a line', async () => {
  expect(await read(Buffer.from('\uFEFF{}\n{}'), [100])).toEqual([
    { row: 1, text: '{}' },
    { row: 2, text: '{}' },
  ])
})

test('the text of a line that is too long is null, and adjacent lines are not affected', async () => {
  const long = 'x'.repeat(MAX_LINE_BYTES + 1)
  const lines = await read(Buffer.from(`a\n${long}\nb\n${long.slice(1)}\n`), [1024 * 1024])
  expect(lines.map(({ row, text }) => [row, text?.length ?? null])).toEqual([
    [1, 1],
    [2, null],
    [3, 1],
    [4, MAX_LINE_BYTES],
  ])
})
