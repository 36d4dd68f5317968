import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runProgram, temporaryFolder } from '../../test/run-program.ts'
import { ga4, harOf, meta } from '../gate/har.fixture.ts'

/** Other people's recordings, which are not part of the project. */
const RECORDINGS = resolve(import.meta.dir, '../../../shared/data/har')
const OWN = resolve(import.meta.dir, '../../test/recordings')

const YAML = `
# Rules of the shop
alerts:
  - name: Purchase without transaction id
    alertType: data_validation
    severity: high
    vendors: [Google Analytics 4]
    filters: [{ parameter: $event, op: equals, values: [purchase] }]
    conditions: { logic: any, items: [{ parameter: ep.transaction_id, op: is_blank }] }
`
const RIGHT = harOf([ga4('page_view'), ga4('purchase', { 'ep.transaction_id': 'A-1', cu: 'EUR' })])
const BROKEN = harOf([ga4('page_view'), ga4('purchase', { cu: 'EUR' })])

/** Creates a folder with recordings and alerts, and returns a function that runs the command there. */
async function folderWith(files: Record<string, unknown> = {}) {
  const folder = temporaryFolder()
  const all = { 'alerts.yml': YAML, 'right.har': RIGHT, 'broken.har': BROKEN, ...files }
  for (const [name, content] of Object.entries(all)) {
    await Bun.write(join(folder.path, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return {
    path: folder.path,
    verify: (line: string, env: Record<string, string> = {}) =>
      runProgram(['verify', ...line.split(' ').filter(Boolean)], { cwd: folder.path, env }),
    read: (name: string) => readFileSync(join(folder.path, name), 'utf8'),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}

describe.concurrent('verify', () => {
  test('exits with 0 for a right recording, and with 1 and a sentence for a wrong one', async () => {
    using folder = await folderWith()
    expect(await folder.verify('--har right.har --alerts alerts.yml')).toMatchObject({ code: 0, stderr: '' })
    const { code, stdout } = await folder.verify('--har broken.har --alerts alerts.yml')
    expect(code).toBe(1)
    expect(stdout).toContain('Google Analytics 4 purchase had no `ep.transaction_id` on /checkout/thanks')
    expect(stdout).toContain('broken.har, entry 1')
  })

  test('reads several files, given in any way', async () => {
    using folder = await folderWith()
    for (const line of ['--har right.har broken.har', '--har right.har --har broken.har', 'right.har broken.har']) {
      const { code, stdout } = await folder.verify(`${line} --alerts alerts.yml --format json`)
      expect(code).toBe(1)
      expect(JSON.parse(stdout).recordings).toHaveLength(2)
    }
  })

  test('writes further reports, whose ending selects the format', async () => {
    using folder = await folderWith()
    const line = '--har broken.har --alerts alerts.yml --write a.json --write a.xml --write a.md --write a.txt'
    const { stdout } = await folder.verify(line)
    expect(folder.read('a.txt')).toBe(stdout)
    expect(folder.read('a.xml')).toStartWith('<?xml version="1.0"')
    expect(folder.read('a.md')).toStartWith('### ❌ Release gate: release')
    expect(JSON.parse(folder.read('a.json'))).toMatchObject({ status: 'failed' })
  })

  test('names the commit of the CI system', async () => {
    using folder = await folderWith()
    const run = (line: string, env: Record<string, string>) =>
      folder.verify(`--har right.har --alerts alerts.yml --format json ${line}`, env)
    expect(JSON.parse((await run('', { GITHUB_SHA: 'abc' })).stdout).ref).toBe('abc')
    expect(JSON.parse((await run('--ref v7 --name shop', { GITHUB_SHA: 'abc' })).stdout)).toMatchObject({
      ref: 'v7',
      name: 'shop',
    })
  })

  test('creates a baseline, compares with it, and replaces it', async () => {
    using folder = await folderWith({
      'more.har': harOf([ga4('page_view'), ga4('purchase', { 'ep.transaction_id': 'B-2', cu: 'EUR' }), meta('Lead')]),
    })
    const verify = (line: string) => folder.verify(`${line} --alerts alerts.yml --baseline gate.json`)
    expect(await verify('--har right.har')).toMatchObject({
      code: 2,
      stderr: 'tagwarden: verify: gate.json: file not found; --approve creates it from this recording\n',
    })
    const broken = await verify('--har broken.har --approve')
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('not approved as a baseline') })
    expect(existsSync(join(folder.path, 'gate.json'))).toBe(false)
    expect(await verify('--har right.har --approve')).toMatchObject({
      code: 0,
      stderr: 'verify: gate.json is now the baseline\n',
    })
    expect((await verify('--har right.har')).code).toBe(0)
    const { code, stdout } = await verify('--har more.har')
    expect(code).toBe(1)
    expect(stdout).toContain('Meta Pixel Lead fired once')
    expect((await verify('--har more.har --approve')).code).toBe(0)
    expect((await verify('--har more.har')).code).toBe(0)
    expect((await verify('--har broken.har')).stdout).toContain('it had a value in the baseline')
  })

  test('checks the expectations of a flow test', async () => {
    using folder = await folderWith({
      'flow.yml': 'name: Buy\nexpectations:\n  - vendor: Meta Pixel\n    event: Purchase\n',
    })
    const { code, stdout } = await folder.verify('--har right.har --expectations flow.yml')
    expect(code).toBe(1)
    expect(stdout).toContain('Meta Pixel Purchase did not fire in the run')
  })

  test.each<[string, Record<string, string>, string]>([
    ['', {}, 'verify: --har is missing'],
    ['--har right.har', {}, 'verify: --alerts FILE, or --url BASE and --key K, is required'],
    ['--har nowhere.har --alerts alerts.yml', {}, 'nowhere.har: file not found'],
    ['--har right.har --alerts nowhere.yml', {}, 'verify: nowhere.yml: file not found'],
    ['--har bad.har --alerts alerts.yml', { 'bad.har': '{"log": {' }, 'bad.har: '],
    [
      '--har bad.har --alerts alerts.yml',
      { 'bad.har': '{"log": {}}' },
      'bad.har: is not a HAR file because log.entries is missing',
    ],
    ['--har bad.har --alerts alerts.yml', { 'bad.har': '' }, 'bad.har: '],
    ['--har right.har --alerts bad.yml', { 'bad.yml': 'a: [1' }, 'verify: bad.yml: is neither JSON nor YAML'],
    [
      '--har right.har --alerts bad.yml',
      { 'bad.yml': 'alerts: [{ name: A }]' },
      'verify: bad.yml: alerts[0].alertType: ',
    ],
    [
      '--har right.har --alerts alerts.yml --format pdf',
      {},
      'verify: --format must be text, json, junit, markdown, not "pdf"',
    ],
    ['--har right.har --alerts alerts.yml --write a.pdf', {}, 'verify: --write: a.pdf must end in'],
    ['--har right.har --alerts alerts.yml --write no/a.xml', {}, 'verify: no/a.xml: '],
    ['--har right.har --alerts alerts.yml --baseline b.json', { 'b.json': '{}' }, 'verify: b.json: format: is missing'],
    [
      '--har right.har --alerts alerts.yml --baseline approved',
      {},
      'verify: --baseline approved requires --url and --key',
    ],
    ['--har right.har --alerts alerts.yml --approve', {}, 'verify: --approve requires --baseline FILE'],
    ['--har right.har --url ftp://x --key ak_1', {}, 'verify: --url must be a web address'],
    ['--har right.har --url http://127.0.0.1:1', {}, 'verify: --key is missing'],
    ['--har right.har --alerts alerts.yml --key ak_1', {}, 'verify: --url is missing'],
    ['--har right.har --url http://127.0.0.1:1 --key ak_1', {}, "verify: http://127.0.0.1:1 can't be reached"],
    ['--flow Buy', {}, 'verify: --flow requires --url and --key'],
    ['--flow Buy --url http://127.0.0.1:1 --key ak_1 --timeout soon', {}, 'verify: --timeout must be a whole number'],
  ])('exits with 2 and one sentence for %j', async (line, files, message) => {
    using folder = await folderWith(files)
    const { code, stderr, stdout } = await folder.verify(line)
    expect(stderr).toStartWith(`tagwarden: ${message}`)
    expect(stderr.trimEnd()).not.toContain('\n')
    expect(code).toBe(2)
    if (!line.includes('--write no/')) expect(stdout).toBe('')
  })
})

/** HAR files as tools write them, and damaged ones. */
const ENTRY = RIGHT.log.entries[1]
const ODD: Record<string, unknown> = {
  'no-entries': { log: { entries: [] } },
  nulls: { log: { entries: [null, {}, { request: null }, { request: { url: 7 } }, ENTRY] } },
  'wrong-types': {
    log: {
      pages: 'x',
      entries: [{ ...ENTRY, startedDateTime: 'yesterday', time: -1, response: { status: 'ok' }, pageref: 3 }],
    },
  },
  'cached, redirected, preflight and initiator': {
    log: {
      entries: [
        { ...ENTRY, _fromCache: 'disk', _initiator: { type: 'script', stack: { callFrames: [] } } },
        { ...ENTRY, request: { ...ENTRY?.request, method: 'OPTIONS' }, _initiator: { type: 'preflight' } },
        { ...ENTRY, response: { status: 302, redirectURL: 'https://x.example/' } },
      ],
    },
  },
  'other schemes': {
    log: {
      entries: ['data:text/html,x', 'blob:https://a/1', 'ws://a.example/', 'about:blank', ''].map((url) => ({
        request: { url },
      })),
    },
  },
  'base64 and gzip bodies': {
    log: {
      entries: ['x', 'H4sIAAAAAAAAA', Buffer.from(Bun.gzipSync(Buffer.from('en=purchase'))).toString('base64')].map(
        (text) => ({
          request: {
            url: 'https://www.google-analytics.com/g/collect?v=2&tid=G-1',
            method: 'POST',
            headers: [{ name: 'Content-Encoding', value: 'gzip' }, null, { name: 3 }],
            postData: { text, encoding: 'base64' },
          },
        }),
      ),
    },
  },
  'a very long URL': {
    log: {
      entries: [
        { request: { url: `https://www.google-analytics.com/g/collect?v=2&tid=G-1&en=${'x'.repeat(40_000)}` } },
      ],
    },
  },
  'hostile names': harOf([ga4('\u001b[2J<b>&|`', { 'ep.__proto__': '1', 'ep.constructor': '\u0000' })]),
}

describe('no recording makes verify fail', () => {
  test.each(Object.entries(ODD))('%s', async (_, har) => {
    using folder = await folderWith({ 'odd.har': har, 'bom.har': `\ufeff${JSON.stringify(har)}` })
    for (const name of ['odd.har', 'bom.har']) {
      const { code, stderr } = await folder.verify(
        `--har ${name} --alerts alerts.yml --format json --baseline b.json --approve`,
      )
      expect({ code: code === 0 || code === 1, stderr: stderr.replace(/^verify: .*\n$/, '') }).toEqual({
        code: true,
        stderr: '',
      })
    }
  })

  const own = readdirSync(OWN)
    .filter((name) => name.endsWith('.har'))
    .map((name) => join(OWN, name))
  const others = existsSync(RECORDINGS) ? readdirSync(RECORDINGS).map((name) => join(RECORDINGS, name)) : []

  test.skipIf(others.length === 0)('any recording of a real page or library', async () => {
    using folder = await folderWith()
    const { code, stdout, stderr } = await folder.verify(
      `--alerts alerts.yml --format json ${[...own, ...others].join(' ')}`,
    )
    expect(stderr).toBe('')
    const report = JSON.parse(stdout)
    expect(code).toBe(report.status === 'passed' ? 0 : 1)
    expect(report.recordings).toHaveLength(own.length + others.length)
    expect(report.events.length).toBeGreaterThan(20)
  })
})
