import type { Base, Log, OperatorNotice } from '../base.ts'
import { ClusterWatermark } from '../collectors/cluster-watermark.ts'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import { privacyFrom } from '../conditions/privacy-settings.ts'
import type { Config } from '../config.ts'
import { type Clock, DAY_MS, SECOND_MS } from '../core/clock.ts'
import { Emitter } from '../core/emitter.ts'
import { openAllStores } from '../data-folder/open-folder.ts'
import { OperatorMessages } from '../health/operator-messages.ts'
import type { HistoryBase } from '../history-base.ts'
import { privacySettings } from '../org/store.ts'
import { checkFolderMark, quietState } from '../store/folder-mark.ts'
import { limitInForce, requestLimits } from '../store/retention-limits.ts'
import { type AddressGuard, addressGuard } from '../transport/address-guard.ts'
import { httpTransport } from '../transport/http-transport.ts'
import { mailTransport } from '../transport/mail-transport.ts'
import { mutedTransport } from '../transport/muted-transport.ts'
import { type Transport, transport as transportOf } from '../transport/transport.ts'
import { webSockets } from '../transport/web-socket.ts'
import { visibleEvents } from '../warehouse/visible-events.ts'
import { localUrlOf } from './local-url.ts'

export interface AppOptions {
  config: Config
  clock: Clock
  log: Log
  /** Sends requests and mail to other servers; by default through HTTP and SMTP as configured. */
  transport?: Transport
  /** Returns a number from 0 up to but not including 1, used to spread retries. */
  jitter?: () => number
}

export interface OpenedBase extends HistoryBase {
  /** Folder for batches that have not yet been evaluated against the rules. */
  lateFolder: string
  operatorMessages: OperatorMessages
  /** Aborts `stopping`. */
  stop(): void
  /** Closes the stores and releases the data folder. */
  close(): void
}

/**
 * Opens the data folder and creates everything else that the rooms share. Throws `FolderError` like `openAllStores`.
 */
export async function openBase({ config, clock, log, transport: given }: AppOptions): Promise<OpenedBase> {
  const guard = addressGuard(config.outboundAllow)
  const report: Base['report'] = (error, where, requestId) => log.error(error, where, requestId)
  const publicUrl = config.publicUrl || localUrlOf(config.listen)
  const operatorMessages = new OperatorMessages({ config, clock, log })
  const notifyOperator = (notice: OperatorNotice) => operatorMessages.notify(notice)
  const queryTimeoutMs = config.queryTimeoutS * SECOND_MS
  const clickhouse = config.warehouse && { ...config.warehouse, ca: config.outboundCa }
  const stores = await openAllStores(config.data, clock, { clickhouse, report, log, notifyOperator, queryTimeoutMs })
  const { db, box, spool, warehouse, late: lateFolder, close } = stores
  requestLimits(db, config, clock.now())
  const quiet = checkFolderMark(db, config.data, clock.now())
  if (quiet) log.warn(quietNotice(quiet.reason))
  const transport = mutedTransport(given ?? outboundTransport(config, guard), () => quietState(db))
  const privacyOf = (orgId: string) => privacyFrom(privacySettings(db, orgId))
  const visible = visibleEvents(spool, warehouse)
  const watermark = new ClusterWatermark(db, visible.watermark)
  const stopping = new AbortController()
  return {
    config,
    clock,
    log,
    report,
    db,
    box,
    rowChanges: new Emitter(),
    guard,
    transport,
    quiet: () => quietState(db),
    notifyOperator,
    operatorMessages,
    publicUrl,
    collectUrl: config.collectUrl || publicUrl,
    stopping: stopping.signal,
    spool,
    warehouse,
    watermark: () => watermark.now(),
    isVisible: visible.isVisible,
    retentionMs: limitInForce(db, 'retentionDays', clock.now()) * DAY_MS,
    maxEventsRead: config.maxEventsRead,
    privacyOf,
    maskTextOf(orgId) {
      const privacy = privacyOf(orgId)
      return (text) => maskPersonal(text, '', privacy)
    },
    lateFolder,
    stop: () => stopping.abort(),
    close,
  }
}

function outboundTransport(config: Config, guard: AddressGuard): Transport {
  const way = { guard, proxy: config.outboundProxy, ca: config.outboundCa }
  return transportOf({
    http: httpTransport(way),
    openSocket: webSockets(way),
    mail: mailTransport({ smtpUrl: config.smtpUrl, from: config.mailFrom, ca: config.outboundCa }),
  })
}

/** Returns the log line of a server that starts quiet. */
function quietNotice(reason: string): string {
  return `this server sends nothing, because ${reason}: no notifications, e-mails, flow tests or audits. Run "tagwarden resume" on the one copy that is to send them`
}
