import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestApp, testApp } from '../test-app.ts'
import { describeReport, reportText } from './bug-report.ts'

const python = Bun.which('python3')

/**
 * The module that the report's client imports as `srv`. It sends requests to the server under test with its API key.
 */
const SRV = `
import json, os, urllib.request, urllib.error
def req(path, body=None, method='GET', headers={}, raw=False):
    sent = {'Authorization': 'Bearer ' + os.environ['KEY'], 'Content-Type': 'application/json', **headers}
    request = urllib.request.Request(os.environ['URL'] + path, json.dumps(body).encode(), sent, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, response.read(), response.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers
`

describeReport('a client of MCP revision 2026-07-28', () => {
  let world: TestApp
  let web: { url: string; stop(): Promise<void> }
  const folder = mkdtempSync(join(tmpdir(), 'mcp-client-'))

  beforeAll(async () => {
    world = await testApp()
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => world.app.fetch(request) })
    web = { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) }
    await world.call('POST', '/v1/domains', { body: { name: 'Shop' } })
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true })
    await web.stop()
    await world[Symbol.asyncDispose]()
  })

  /** The requests of the report, in the original order. */
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const ask = async (method: string, params: object, headers: Record<string, string>) => {
    const response = await fetch(`${web.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world.owner.apiKey}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: a test names the fields it expects
    return { status: response.status, body: (await response.json()) as any }
  }
  const stateless = (method: string, params: object = {}, name?: string) =>
    ask(
      method,
      { ...params, _meta: META },
      { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method, ...(name ? { 'Mcp-Name': name } : {}) },
    )

  test('returns what the report expects', async () => {
    const discovered = await stateless('server/discover')
    expect(discovered.body.result.supportedVersions[0]).toBe('2026-07-28')
    const listed = await stateless('tools/list')
    const names = listed.body.result.tools.map(({ name }: { name: string }) => name)
    expect(names).toContain('list_domains')
    for (const name of ['listDomains', 'list_domains']) {
      const called = await stateless('tools/call', { name, arguments: {} }, name)
      expect(called.body.result.structuredContent.domains).toMatchObject([{ name: 'Shop' }])
    }
    const unknown = await ask('tools/list', {}, { 'MCP-Protocol-Version': '2027-01-01' })
    expect([unknown.status, unknown.body.error.code]).toEqual([400, -32022])
    expect(unknown.body.error.data).toMatchObject({ supported: expect.arrayContaining(['2026-07-28', '2025-11-25']) })
  })

  test.skipIf(!python)('runs the Python code of the report', async () => {
    writeFileSync(join(folder, 'srv.py'), SRV)
    writeFileSync(join(folder, 'client.py'), reportText('20-mcp-2026-07-28.py'))
    const child = Bun.spawn([python ?? '', 'client.py'], {
      cwd: folder,
      env: { KEY: world.owner.apiKey, URL: web.url },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = [await new Response(child.stdout).text(), await new Response(child.stderr).text()]
    expect([await child.exited, err]).toEqual([0, ''])
    const lines = out.trim().split('\n')
    const answer = (result: string) => `(200, '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","${result}`
    expect(lines).toHaveLength(5)
    const [discover, list, call, initialize, headerless] = lines
    expect(discover).toStartWith(`discover ${answer('supportedVersions')}`)
    expect(list).toStartWith(`list ${answer('tools')}`)
    expect(call).toStartWith(`call ${answer('content')}`)
    expect(initialize).toContain('"protocolVersion":"2025-11-25"')
    // This protocol revision requires the header.
    expect(headerless).toBe('list no header but meta 400')
  })
})
