import { expect, setDefaultTimeout, test } from 'bun:test'
import { PROGRAM, until } from './process.ts'

setDefaultTimeout(300_000)

/** What the demo prints, as it prints it. */
async function startDemo() {
  const child = Bun.spawn([...PROGRAM, 'demo', '--listen', '127.0.0.1:0'], { stdout: 'pipe', stderr: 'pipe' })
  let printed = ''
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const part of stream) printed += decoder.decode(part)
  }
  void read(child.stdout)
  void read(child.stderr)
  const [, url = '', key = ''] = await until('the address of the demo', () =>
    /look at\s+(http:\S+?)\/#key=(\w[\w-]*)&demo/.exec(printed),
  )
  const get = async (path: string) => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
    return response.ok ? response.json() : null
  }
  return {
    get,
    printed: () => printed,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

test('the demo shows each answer on its data: what broke, what caused it, what is given away, what is missing', async () => {
  await using demo = await startDemo()
  const { get } = demo
  const soon = <T>(what: string, ask: () => Promise<T | null>) => until(what, ask, 90_000)

  const release = await soon('the verdict on the release', async () => {
    const { changes } = (await get('/v1/changes')) ?? { changes: [] }
    return (
      changes.find(({ source, status }: Record<string, string>) => source === 'pipeline' && status === 'regressed') ??
      null
    )
  })
  expect(release.findings.items).toContainEqual(
    expect.objectContaining({
      ...{ kind: 'key_lost', harmful: true, vendor: 'Google Analytics 4', event: 'add_to_cart', key: 'ep.currency' },
    }),
  )

  const found = await soon('an address in a parameter', async () => {
    const { findings } = (await get('/v1/compliance/pii')) ?? { findings: [] }
    return findings.find(({ key }: { key: string }) => key === 'ep.form_field') ?? null
  })
  expect(found).toMatchObject({ kind: 'email', vendor: 'Google Analytics 4', example: 'j***@e***.com' })

  const cause = await soon('the live release as a cause', async () => {
    const { causes } = (await get('/v1/insights/causes')) ?? { causes: [] }
    return causes.find(({ kind }: { kind: string }) => kind === 'release') ?? null
  })
  expect(cause).toMatchObject({ title: 'Version 42', severity: 'high', impactValue: 12_000 })
  const evidence = await get(`/v1/issues/${cause.issueIds[0]}/evidence`)
  expect(evidence.changes).toMatchObject([{ id: cause.changeId }])

  const { suggestions } = await get('/v1/insights/suggestions')
  expect(suggestions.length).toBeGreaterThanOrEqual(3)

  const path = demo.printed().match(/\/v1\/insights\/reconcile\S+/)?.[0] ?? ''
  const { vendors } = await get(path)
  for (const vendor of ['Google Analytics 4', 'Meta Pixel']) {
    const own = vendors.find((one: { vendor: string }) => one.vendor === vendor)
    expect(own.missing).toBeGreaterThan(0)
    expect(own.missingValue).toBeGreaterThan(0)
    expect(own.capturePct).toBeGreaterThan(50)
  }
})
