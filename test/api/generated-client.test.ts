import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import { cpSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createClient } from '@hey-api/openapi-ts'
import { type RunningServer, startServer } from '../../src/commands/start-server.ts'
import { readConfig } from '../../src/config.ts'
import type { OpenApiDocument } from '../../src/openapi/openapi.ts'
import { receiver } from '../../src/transport/receiver.fixture.ts'
import { call, runProgram, temporaryFolder, until } from '../run-program.ts'

/* Tests the main use case through a client that a third-party generator creates from the OpenAPI document. */

const ROOT = resolve(import.meta.dir, '../..')
const TSC = [process.execPath, join(ROOT, 'node_modules/typescript-native/bin/tsc')]

const folder = temporaryFolder()
const at = (name: string) => join(folder.path, name)
const hook = receiver()
const bugs: unknown[] = []
const asked = new Set<string>()
let server: RunningServer
let api: OpenApiDocument

/** Generates the client from `openapi.json`. The client is TypeScript code that requires no third-party packages. */
async function generate(): Promise<void> {
  const requests = spyOn(globalThis, 'fetch')
  const written = await createClient({
    input: at('openapi.json'),
    output: at('client'),
    plugins: ['@hey-api/client-fetch', '@hey-api/sdk', '@hey-api/typescript'],
    // Without these options, the generator writes crash reports to the working folder and offers to publish them.
    logs: { level: 'silent', file: false },
    interactive: false,
  })
  const sent = requests.mock.calls.length
  requests.mockRestore()
  expect({ clients: written.length, sent }).toEqual({ clients: 1, sent: 0 })
}

beforeAll(async () => {
  const init = ['init', '--data', at('data'), '--org', 'Acme', '--email', 'alice@example.com', '--json']
  const { apiKey } = JSON.parse((await runProgram(init)).stdout)
  const flags = { data: at('data'), listen: '127.0.0.1:0', outboundAllow: '127.0.0.1' }
  server = await startServer(readConfig(flags, {}), { info() {}, warn() {}, error: (error) => void bugs.push(error) })
  api = (await call('GET', `${server.url}/openapi.json`)).body
  await Bun.write(at('openapi.json'), JSON.stringify(api))
  await generate()
  cpSync(join(import.meta.dir, 'generated-client-program.ts'), at('program.ts'))
  const { client } = await import(at('program.ts'))
  client.setConfig({ baseUrl: server.url, auth: apiKey })
  client.interceptors.request.use((request: Request) => {
    asked.add(new URL(request.url).origin)
    return request
  })
})

afterAll(async () => {
  await server.stop()
  await hook[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
  expect(bugs).toEqual([])
})

test('the client has a function for every operation', async () => {
  const described = Object.values(api.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  const functions = Object.entries(await import(at('client/sdk.gen.ts'))).filter(
    ([, value]) => typeof value === 'function',
  )
  expect(functions.map(([name]) => name).sort()).toEqual(described.sort())
})

test('every schema has a type with its name, and no type is `any`', () => {
  const types = readFileSync(at('client/types.gen.ts'), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
  const named = new Set([...types.matchAll(/^export type (\w+)/gm)].map(([, name]) => name))
  expect(Object.keys(api.components.schemas).filter((name) => !named.has(name))).toEqual([])
  expect(types.match(/[:<|&=] *any\b.*/g)).toBeNull()
})

test('client and server have compatible types, which catch mistakes', async () => {
  const rules = {
    extends: join(ROOT, 'tsconfig.json'),
    // A generated client treats a missing field and an undefined one alike at run time.
    compilerOptions: { types: [], exactOptionalPropertyTypes: false },
    include: ['program.ts', 'client'],
    exclude: [],
  }
  await Bun.write(at('tsconfig.json'), JSON.stringify(rules))
  const ended = await runProgram(['-p', folder.path], { program: TSC, cwd: folder.path })
  expect(ended).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('the client completes a full workflow: domain, alert, events, issue, resolution', async () => {
  const program = await import(at('program.ts'))
  expect(await program.whoIsIt()).toMatchObject({ email: 'alice@example.com', role: 'owner' })
  const heard: [name: string, data: object][] = []
  const heardAll = program.hear((name: string, data: { status?: string }) => {
    heard.push([name, data])
    return name !== 'issue' || data.status !== 'resolved'
  })
  await until('the first pulse', () => heard.some(([name]) => name === 'pulse'))
  const { token, alertId } = await program.setUp(`${hook.url}/hook`)
  const events = [{ vendor: 'Shop', event: 'purchase', params: { to: 'ann@example.com' } }]
  const batch = { page: { url: 'https://shop.example/thanks' }, events }
  // Events are sent by other programs, which use the property's token.
  const taken = await call('POST', `${server.collectUrl}/api/v1/events`, { as: token, body: batch })
  expect(taken.status).toBe(202)

  const issue = await until('the issue', async () => (await program.openIssues(alertId))[0] ?? null)
  expect(issue).toMatchObject({ severity: 'critical', occurrences: 1 })
  await until('the webhook message', () => hook.requests.length > 0)
  expect(await program.investigate(issue.id)).toMatchObject({
    issue: { id: issue.id, domain: 'Shop' },
    alert: { id: alertId },
    badSample: { vendor: 'Shop', event: 'purchase', violations: [alertId] },
    deliveries: [{ issueId: issue.id, transition: 'opened' }],
  })
  expect(await program.handle(issue.id)).toEqual({ statuses: ['acknowledged', 'resolved', 'resolved'], notes: 'on it' })
  expect(await program.openIssues()).toEqual([])
  await heardAll
  expect(heard).toContainEqual(['alert', { id: alertId, updatedAt: expect.any(Number) }])
  expect(heard.at(-1)).toMatchObject(['issue', { id: issue.id, alertId, status: 'resolved' }])
  expect([...asked]).toEqual([server.url])
})

test('errors are returned to the caller as documented', async () => {
  const program = await import(at('program.ts'))
  const body = { error: expect.stringContaining('alert') }
  expect(await program.refused()).toEqual({ status: 404, message: body.error, data: undefined })
  expect(await program.refusedLoudly().catch((error: unknown) => error)).toEqual(body)
})
