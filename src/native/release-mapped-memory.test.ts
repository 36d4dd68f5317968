import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { releaseFilePages, untouchedMappings } from './release-mapped-memory.ts'

const mapping = (range: string, access: string, file: string, rss: number, anonymous: number) =>
  `${range} ${access} 00001000 fe:00 123                            ${file}
Size:               4096 kB
Rss:                ${rss} kB
Pss:                   5 kB
Anonymous:          ${anonymous} kB
VmFlags: rd ex mr mw me
`

test('only unmodified file mappings of the program and its libraries are selected', () => {
  const smaps = [
    mapping('00200000-00400000', 'r--p', '/opt/a program', 1000, 0),
    mapping('00400000-00600000', 'r-xp', '/lib/libc.so.6', 2000, 0),
    mapping('00600000-00800000', 'r-xp', '/opt/engine.node', 2000, 0),
    mapping('00800000-00a00000', 'r--p', '/opt/read.json', 2000, 0),
    mapping('00a00000-00c00000', 'rw-p', '/opt/a program', 3000, 0),
    mapping('00c00000-00e00000', 'r--p', '/opt/relocated.so', 900, 4),
    mapping('00e00000-01000000', 'r-xp', '/opt/small.so', 100, 0),
    mapping('01000000-01200000', 'r-xs', '/opt/shared.so', 1000, 0),
    mapping('01200000-01400000', 'rw-p', '', 1000, 1000),
    mapping('7ffd00000000-7ffd00200000', 'r-xp', '[vdso]', 1000, 0),
  ].join('')
  expect(untouchedMappings(smaps, '/opt/a program').map(({ file }) => file)).toEqual([
    '/opt/a program',
    '/lib/libc.so.6',
    '/opt/engine.node',
  ])
  expect(untouchedMappings(smaps, '')[0]).toEqual({ from: 0x400000n, to: 0x600000n, file: '/lib/libc.so.6' })
})

test.skipIf(process.platform !== 'linux')(
  "the program's file pages are released from memory and loaded again on access",
  () => {
    const filesKb = () => Number(/^RssFile:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
    const before = filesKb()
    releaseFilePages()
    expect(filesKb()).toBeLessThan(before)
    const texts = Array.from({ length: 1000 }, (_, n) => JSON.stringify({ n, text: `é${n}` }))
    expect(texts.map((text) => JSON.parse(text).n)).toEqual(texts.map((_, n) => n))
  },
)
