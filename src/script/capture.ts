import type { CaptureConfig } from '../capture/capture-config.ts'
import { type BrowserFunctions, browserFunctionsOf } from './browser-functions.ts'
import { makeCaptureFilter } from './capture-filter.ts'
import { replay, takeCommands, takeEarly } from './command-queue.ts'
import { fetchConfig } from './config-source.ts'
import { type Delivery, makeDelivery } from './delivery.ts'
import { addNotice, commandRunner } from './page-commands.ts'
import { makeFrames } from './page-frame.ts'
import { makeStatsKeeper } from './page-stats.ts'
import { observe, supportsLongFrames } from './performance-observers.ts'
import { makeCalls } from './recorded-requests.ts'
import { makeRecorder, type Recorder } from './request-recorder.ts'
import { makeSession } from './visitor-session.ts'
import { violationRecorder, watchElements } from './watch-elements.ts'
import { callRecordersOf, watchTransports } from './watch-transports.ts'

/** Starts capturing on this page. `sessionId` is used unless the page sets another id. */
export function startCapture(window: BrowserFunctions['window'], config: CaptureConfig, sessionId: string): void {
  const early = takeEarly(window)
  if (config.kill || config.version !== 1) return
  const host = browserFunctionsOf(window)
  const { guard } = host
  const session = makeSession(config, sessionId, () => window.sessionStorage)
  const filter = makeCaptureFilter(config, host.location.hostname, () => window.document.baseURI)
  const stats = makeStatsKeeper(supportsLongFrames())
  const closing = fetchConfig({
    ...host,
    configUrl: config.configUrl,
    take(fresh) {
      if (fresh.kill) guard.stop()
      config.sampleRate = fresh.sampleRate
      config.sessionMode = fresh.sessionMode
      filter.learn(fresh)
      recorder.decide()
    },
  })
  // The callbacks below use variables that are defined before the first callback runs.
  const frames = makeFrames({ ...host, config, session, left: (page) => delivery.finish(page) })
  const leaving = () => takeEntries?.()
  const delivery: Delivery = makeDelivery({ ...host, config, frames, stats, closing, leaving })
  const { add, check: changed } = delivery
  const recorder: Recorder = makeRecorder({ ...host, filter, frames, calls: makeCalls(), add, changed })
  const seers = { ...callRecordersOf(recorder), securitypolicyviolation: violationRecorder(recorder) }
  const takeEntries = guard.run(() => observe({ ...host, filter, frames, recorder, stats }))

  guard.run(() => watchTransports(window, seers, { guard, recorder }))
  guard.run(() => watchElements(window, seers, { guard, recorder }))
  const commands = { ...host, frames, session, add }
  // Queued commands run first, because the values they declare apply to the buffered requests.
  guard.run(() => takeCommands(window, guard, commandRunner(commands)))
  if (early) guard.run(() => addNotice(commands, { vendor: 'Tagwarden', event: 'snippet_ran' }))
  replay(guard, seers, early ?? [])
}
