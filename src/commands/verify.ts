import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parse } from 'yaml'
import { PLAIN_PRIVACY, type Privacy } from '../conditions/privacy-settings.ts'
import { AppError, messageOf } from '../core/error.ts'
import { parser } from '../core/schema.ts'
import { canBecomeBaseline } from '../gate/baseline.ts'
import { type GateExpectations, type GateRules, readExpectations, readRules } from '../gate/read-rules.ts'
import type { GateDomain, RecordedFile } from '../gate/recording.ts'
import { REPORT_FORMATS, type ReportFormat, renderReport } from '../gate/render-report.ts'
import { type GateReport, GateReportSchema } from '../gate/report.ts'
import { runGate } from '../gate/run-gate.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { readHarRequests } from './read-har.ts'
import { keyOf, ServerClient } from './server-client.ts'
import { GateServer } from './verify-server.ts'

const NOTHING: GateRules = { alerts: [], membersOf: () => [] }
/** The domain of a recording that is judged without a server. */
const NO_DOMAIN: GateDomain = { id: '', orgId: 'org', nameVendor: () => null }
/** Variables in which CI systems store the commit. */
const COMMIT_VARIABLES = ['GITHUB_SHA', 'CI_COMMIT_SHA', 'GIT_COMMIT', 'BUILD_SOURCEVERSION', 'BITBUCKET_COMMIT']
const FORMAT_OF_ENDING: Readonly<Record<string, ReportFormat>> = {
  json: 'json',
  xml: 'junit',
  md: 'markdown',
  txt: 'text',
}

const fault = (text: string) => new UsageError(`verify: ${text}`)

function textFlag({ flags }: Invocation, name: string): string | null {
  const value = flags[name]
  if (value === '') throw fault(`--${name} is empty`)
  return typeof value === 'string' ? value : null
}

/** Returns the parsed content of a JSON or YAML file. */
function readDocument(path: string): unknown {
  let text: string
  try {
    text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    throw fault(`${path}: ${existsSync(path) ? messageOf(error) : 'file not found'}`)
  }
  try {
    return /^\s*[[{]/.test(text) ? JSON.parse(text) : parse(text)
  } catch (error) {
    throw fault(`${path}: is neither JSON nor YAML: ${messageOf(error).replace(/\s+/g, ' ')}`)
  }
}

/** Runs `read` and adds the file to the field that an error names. */
function inFile<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError) throw fault(`${path}: ${error.message}`)
    throw error
  }
}

const readReport = parser(GateReportSchema)

/** Everything that the arguments select. */
interface Settings {
  files: string[]
  format: ReportFormat
  name: string
  ref: string | null
  server: GateServer | null
  baseline: string | null
  approves: boolean
}

function settingsOf(invocation: Invocation): Settings {
  const { flags, names, lists = {}, env } = invocation
  const format = textFlag(invocation, 'format') ?? 'text'
  const known = REPORT_FORMATS.find((one) => one === format)
  if (!known) throw fault(`--format must be ${REPORT_FORMATS.join(', ')}, not "${format}"`)
  for (const path of lists.write ?? []) formatOf(path)
  const url = textFlag(invocation, 'url')
  const key = keyOf({ name: 'verify' }, invocation)
  if (url !== null && key === null) throw fault('--key is missing; TAGWARDEN_KEY can contain it')
  if (url === null && flags.key !== undefined) throw fault('--url is missing')
  const ref = textFlag(invocation, 'ref') ?? COMMIT_VARIABLES.map((name) => env[name]).find(Boolean) ?? null
  return {
    files: [...(lists.har ?? []), ...names],
    format: known,
    name: (textFlag(invocation, 'name') ?? 'release').slice(0, 100),
    ref: ref?.slice(0, 200) ?? null,
    server: url === null || key === null ? null : new GateServer(new ServerClient('verify', url, key)),
    baseline: textFlag(invocation, 'baseline'),
    approves: flags.approve === true,
  }
}

function formatOf(path: string): ReportFormat {
  const format = FORMAT_OF_ENDING[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '']
  if (!format) throw fault(`--write: ${path} must end in .json, .xml, .md or .txt`)
  return format
}

/** True for a baseline on the server rather than in a file. */
const isOnServer = (baseline: string) => baseline === 'approved' || /^gat_\w+$/.test(baseline)

/** Returns the baseline; null when there is none, or when this run replaces the one in the file. */
async function baselineOf({ baseline, approves, server, name }: Settings) {
  if (baseline === null) return null
  if (isOnServer(baseline)) {
    if (!server) throw fault(`--baseline ${baseline} requires --url and --key`)
    return server.baseline(baseline, name, approves)
  }
  if (approves) return null
  if (!existsSync(baseline)) throw fault(`${baseline}: file not found; --approve creates it from this recording`)
  const { events } = inFile(baseline, () => readReport(readDocument(baseline)))
  return { name: basename(baseline), events }
}

async function rulesOf(invocation: Invocation, { server }: Settings): Promise<GateRules> {
  const path = textFlag(invocation, 'alerts')
  if (path !== null) return inFile(path, () => readRules(readDocument(path), NO_DOMAIN))
  if (server) return server.rules()
  if (textFlag(invocation, 'expectations') !== null || textFlag(invocation, 'baseline') !== null) return NOTHING
  throw fault('--alerts FILE, or --url BASE and --key K, is required')
}

async function expectationsOf(invocation: Invocation, { server }: Settings): Promise<GateExpectations | null> {
  const path = textFlag(invocation, 'expectations')
  if (path !== null) return inFile(path, () => readExpectations(readDocument(path)))
  const flow = textFlag(invocation, 'flow')
  return flow === null || !server ? null : server.expectations(flow)
}

async function readFiles(paths: readonly string[]): Promise<RecordedFile[]> {
  const files: RecordedFile[] = []
  for (const path of paths) files.push({ name: basename(path), requests: await readHarRequests(path) })
  return files
}

async function checkRecording(invocation: Invocation, settings: Settings): Promise<GateReport> {
  const { server, name, ref } = settings
  const files = await readFiles(settings.files)
  const [rules, expectations, baseline] = [
    await rulesOf(invocation, settings),
    await expectationsOf(invocation, settings),
    await baselineOf(settings),
  ]
  const domain = await domainOf(textFlag(invocation, 'domain'), files, settings)
  const privacy: Privacy = server ? await server.privacy() : PLAIN_PRIVACY
  return inFile(textFlag(invocation, 'alerts') ?? 'alerts', () =>
    runGate({ name, ref, now: Date.now(), files, rules, domain, privacy, expectations, baseline }),
  )
}

async function domainOf(id: string | null, files: readonly RecordedFile[], { server }: Settings): Promise<GateDomain> {
  if (server) return server.domain(id, files)
  return id === null ? NO_DOMAIN : { ...NO_DOMAIN, id }
}

/** Prints the report, writes and records it, and returns the exit code. */
async function finish(report: GateReport, invocation: Invocation, settings: Settings): Promise<number> {
  const { format, server, baseline, approves } = settings
  const say = (text: string) => console.error(`verify: ${text}`)
  process.stdout.write(renderReport(report, format))
  for (const path of invocation.lists?.write ?? []) writeReport(path, renderReport(report, formatOf(path)))
  const isAllowed = canBecomeBaseline(report)
  if (approves && !isAllowed)
    say('not approved as a baseline, because the recording violates other checks or has no events')
  if (approves && isAllowed && baseline !== null && !isOnServer(baseline)) {
    writeReport(baseline, renderReport(report, 'json'))
    say(`${baseline} is now the baseline`)
  }
  if (server && invocation.flags['no-record'] !== true) {
    const isApproved = approves && isAllowed && (baseline === null || isOnServer(baseline))
    for (const text of await server.record(report, isApproved)) say(text)
  }
  return report.status === 'passed' || (approves && isAllowed) ? 0 : 1
}

function writeReport(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw fault(`${path}: ${messageOf(error)}`)
  }
}

/** The release gate: judges a recording of a release before its users do. */
export const verify: Command = {
  name: 'verify',
  operands: '[FILE…]',
  summary: 'Checks a recording of a release (HAR) against alerts, expected events and an approved baseline.',
  flags: {
    har: { type: 'string', multiple: true, value: 'FILE', meaning: 'HAR file (or .har.zip); further files can follow' },
    alerts: { type: 'string', value: 'FILE', meaning: 'Alerts as JSON or YAML, as returned by GET /v1/alerts' },
    url: { type: 'string', value: 'BASE', meaning: 'Server that provides alerts and stores the result' },
    key: { type: 'string', value: 'K', meaning: 'API key, ak_…; default: TAGWARDEN_KEY' },
    baseline: {
      type: 'string',
      value: 'RUN',
      meaning: 'Approved run: a file, the id of a run on the server, or "approved" for the latest one',
    },
    approve: { type: 'boolean', meaning: 'Approve this recording as the baseline: write the file, or mark the run' },
    expectations: { type: 'string', value: 'FILE', meaning: 'Expected events, as in a flow test (JSON or YAML)' },
    flow: {
      type: 'string',
      value: 'TEST',
      meaning: 'Flow test on the server, by id or name; without --har, it is run',
    },
    'start-url': { type: 'string', value: 'U', meaning: 'Start page for the run of the flow test, such as a preview' },
    timeout: { type: 'string', value: 'SECONDS', meaning: 'Maximum time for the run of the flow test; default 900' },
    domain: { type: 'string', value: 'ID', meaning: 'Only apply alerts that watch this domain' },
    name: { type: 'string', value: 'NAME', meaning: 'Name of the gate; default: release' },
    ref: { type: 'string', value: 'REF', meaning: 'Commit or version; default: the variable of the CI system' },
    'no-record': { type: 'boolean', meaning: 'Do not store the result on the server' },
    format: { type: 'string', value: 'FORMAT', meaning: 'Format of the output: text (default), json, junit, markdown' },
    write: {
      type: 'string',
      multiple: true,
      value: 'FILE',
      meaning: 'Also write a report; the ending (.json, .xml, .md, .txt) selects its format',
    },
  },
  async run(invocation) {
    const settings = settingsOf(invocation)
    const flow = textFlag(invocation, 'flow')
    if (flow !== null && !settings.server) throw fault('--flow requires --url and --key')
    if (settings.approves && settings.baseline === null && !settings.server) {
      throw fault('--approve requires --baseline FILE, or --url and --key')
    }
    if (settings.files.length > 0) {
      if (invocation.flags['start-url'] !== undefined) throw fault('--start-url is only allowed without --har')
      return finish(await checkRecording(invocation, settings), invocation, settings)
    }
    if (flow === null || !settings.server) throw fault('--har is missing')
    const { runFlow } = await import('./verify-flow.ts')
    const report = await runFlow(settings.server, {
      test: flow,
      startUrl: textFlag(invocation, 'start-url'),
      timeoutMs: timeoutOf(invocation),
      ...settings,
      baseline: await baselineOf(settings),
    })
    return finish(report, invocation, settings)
  },
}

function timeoutOf(invocation: Invocation): number {
  const seconds = Number(textFlag(invocation, 'timeout') ?? 900)
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > 86_400) {
    throw fault('--timeout must be a whole number of seconds from 1 to 86400')
  }
  return seconds * 1000
}
