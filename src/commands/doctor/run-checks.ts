import { localUrlOf } from '../../app/local-url.ts'
import type { Config } from '../../config.ts'
import type { Clock } from '../../core/clock.ts'
import { examine, type Finding, wrong } from '../../data-folder/examine-folder.ts'
import type { ExaminedFolder } from '../../data-folder/folder-access.ts'
import { engineFault } from '../../data-folder/open-folder.ts'
import { waitingDeletionTexts } from '../../data-folder/waiting-deletions.ts'
import { type RecordedState, readRecordedState } from '../../health/recorded-state.ts'
import { openToRead } from '../../store/inspect-database.ts'
import { hintsOf } from '../serve.ts'
import { askServer, metricOf, type ServerAnswer } from './ask-server.ts'
import { checkConnections } from './check-connections.ts'
import {
  checkBrowser,
  checkCountryFile,
  checkTemporaryFolder,
  readVersions,
  type Versions,
  versionFinding,
} from './check-machine.ts'
import {
  type ComparedClock,
  checkBackup,
  checkClock,
  checkCollectors,
  checkDeliveries,
  checkServer,
  checkWork,
} from './check-work.ts'

/** Results of all checks. */
export interface Checkup {
  findings: Finding[]
  /** Null if no server is running. */
  server: ServerAnswer | null
  versions: Versions
}

interface CheckDeps {
  config: Config
  clock: Clock
  /** Called after each file with the number of files checked. */
  progress(done: number, of: number): void
}

/** Runs all checks. Nothing is changed, and nothing is sent except to addresses in the settings. */
export async function runChecks(examined: ExaminedFolder, { config, clock, progress }: CheckDeps): Promise<Checkup> {
  const connecting = checkConnections(config, clock)
  const server = examined.isRunning ? await askServer(config.listen) : null
  const findings = await examine(examined, progress)
  findings.push(checkServer(server))
  const isCurrent = findings.some(({ check, state }) => check === 'database' && state === 'good')
  const state = isCurrent ? withDatabase() : null
  const { findings: connections, clocks } = await connecting
  const versions = await readVersions(config)
  findings.push(
    ...connections,
    checkClock(state, [...clocks, ...senderClocks(server)], clock.now()),
    checkTemporaryFolder(examined.temporaryFolder),
    await checkBrowser(config, examined.temporaryFolder),
    ...(await checkCountryFile(config.countryFile)),
    ...hintsOf(config, config.publicUrl || localUrlOf(config.listen)).map(
      (says): Finding => ({ check: 'settings', state: 'note', says }),
    ),
    versionFinding(versions),
  )
  return { findings, server, versions }

  function withDatabase(): RecordedState {
    const db = openToRead(examined.database)
    try {
      const now = clock.now()
      const found = readRecordedState(db, now)
      const fault = engineFault(examined.paths, db, config.warehouse !== null)
      if (fault) findings.push(wrong('warehouse', fault.message))
      findings.push(
        ...checkWork(found, server, now),
        checkDeliveries(found),
        checkBackup(db, config, now),
        ...checkCollectors(db),
      )
      findings.push(...waitingDeletionTexts(db).map((says): Finding => ({ check: 'settings', state: 'note', says })))
      return found
    } finally {
      db.close()
    }
  }
}

/** The typical clock of browsers and others that send events, as measured by the running server. */
function senderClocks(server: ServerAnswer | null): ComparedClock[] {
  if (server === null || server.kind === 'silent') return []
  const offsetS = metricOf(server.metrics, 'tagwarden_sender_clock_offset_seconds')
  return offsetS === null ? [] : [{ of: 'the median of the senders of events', offsetMs: offsetS * 1000 }]
}
