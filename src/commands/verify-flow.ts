import { requestsOfHar } from '../browser/har-requests.ts'
import type { Instant } from '../core/clock.ts'
import { cutText } from '../core/text.ts'
import { compareWithBaseline, eventKinds } from '../gate/baseline.ts'
import type { Judged } from '../gate/judge-recording.ts'
import { readRecording } from '../gate/recording.ts'
import type { EventKind, GateReport } from '../gate/report.ts'
import { reportOf } from '../gate/run-gate.ts'
import { UsageError } from './command.ts'
import type { GateServer, RunDetail } from './verify-server.ts'

export interface FlowRequest {
  /** Id or name of the flow test. */
  test: string
  /** Replaces the start page of the test; null to keep it. */
  startUrl: string | null
  /** The run is cancelled after this time. */
  timeoutMs: number
  name: string
  ref: string | null
  baseline: { name: string; events: readonly EventKind[] } | null
}

const POLL_MS = 1000
/** After an interruption, the program ends even if the server does not answer. */
const CANCEL_MS = 5000

/**
 * Runs a flow test on the server, waits for its result, and returns the report. Rejects with `UsageError` when the run
 * did not end in time, was cancelled or was interrupted; the run is then cancelled on the server.
 */
export async function runFlow(server: GateServer, request: FlowRequest): Promise<GateReport> {
  const { test, startUrl, timeoutMs } = request
  const flowTest = await server.flowTest(test)
  // Before the run starts, so that no signal ends the program without cancelling it.
  const interruption = interrupted()
  const progress = progressLine(flowTest.name)
  try {
    const { id } = await server.startRun(flowTest.id, startUrl)
    const end = Date.now() + timeoutMs
    for (;;) {
      const run = await server.run(id)
      progress.show(run)
      if (run.status === 'cancelled') throw new UsageError(`verify: the run ${id} was cancelled`)
      if (run.status === 'passed' || run.status === 'failed') return await reportOfRun(server, run, flowTest, request)
      if (Date.now() >= end) {
        await cancel(server, id)
        throw new UsageError(`verify: the run ${id} did not end within ${timeoutMs / 1000} s; it was cancelled`)
      }
      const signal = await Promise.race([interruption.happened, Bun.sleep(Math.min(POLL_MS, end - Date.now()))])
      if (signal) {
        await cancel(server, id)
        throw new UsageError(`verify: interrupted; the run ${id} was cancelled`)
      }
    }
  } finally {
    progress.clear()
    interruption.forget()
  }
}

/** Cancels a run. Does not fail: the run may have ended in the meantime. */
async function cancel(server: GateServer, id: string): Promise<void> {
  await Promise.race([server.cancelRun(id).catch(() => undefined), Bun.sleep(CANCEL_MS)])
}

/** Waits for the signals that end a program. */
function interrupted() {
  const { promise, resolve } = Promise.withResolvers<'interrupted'>()
  const listener = () => resolve('interrupted')
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, listener)
  return {
    happened: promise,
    forget() {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, listener)
    },
  }
}

/** Shows the state of a run on a terminal, and each change of it as a line elsewhere. */
function progressLine(name: string) {
  let shown = ''
  return {
    show({ status, steps, summary }: RunDetail) {
      const done =
        status === 'running' && steps.length > 0 ? `, step ${summary.stepsPassed} of ${summary.stepsTotal}` : ''
      const text = `verify: flow test “${name}”: ${status}${done}`
      if (text === shown) return
      shown = text
      process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
    },
    clear() {
      if (process.stderr.isTTY && shown !== '') process.stderr.write('\r\x1b[K')
    },
  }
}

async function reportOfRun(
  server: GateServer,
  run: RunDetail,
  { name: testName, domainId }: { name: string; domainId: string | null },
  { name, ref, baseline }: FlowRequest,
): Promise<GateReport> {
  const privacy = await server.privacy()
  const requests = run.status === 'passed' || baseline ? requestsOfHar(await server.runHar(run.id)) : []
  const files = [{ name: `${run.id}.har`, requests: requests ?? [] }]
  const recording = readRecording(files, { id: '', orgId: 'org', nameVendor: () => null }, () => [])
  const judged = [judgedRun(run, testName), ...(baseline ? [compareWithBaseline(recording, baseline, privacy)] : [])]
  return {
    ...reportOf(judged, { name, ref, now: endOf(run) }),
    domainId,
    recordings: recording.files.map(({ name: file, requests, events }) => ({ file, requests, events })),
    baseline: baseline?.name ?? null,
    events: eventKinds(recording, privacy),
  }
}

const endOf = ({ finishedAt, createdAt }: RunDetail): Instant => finishedAt ?? createdAt

/** Returns the result of a run as a check. */
function judgedRun({ id, status, error, findings, events }: RunDetail, name: string): Judged {
  const failed = findings.map(({ kind, vendor, event, sentence, expected, observed }) => ({
    kind,
    vendor,
    event,
    sentence: cutText(sentence, 4000, '…'),
    expected: expected && cutText(expected, 4000, '…'),
    observed: observed && cutText(observed, 4000, '…'),
    count: 1,
    parameters: [],
    evidence: null,
  }))
  const ended = { kind: 'step_failed', vendor: null, event: null, expected: null, observed: null, count: 1 } as const
  const sentence = cutText(`The run ended early: ${error ?? 'unknown reason'}`, 4000, '…')
  return {
    check: {
      kind: 'flow',
      id,
      name: cutText(`Flow test ${name}`, 300),
      severity: null,
      status: status === 'passed' ? 'passed' : 'failed',
      reason: null,
      events: events.length,
    },
    findings:
      status === 'failed' && failed.length === 0 ? [{ ...ended, sentence, parameters: [], evidence: null }] : failed,
  }
}
