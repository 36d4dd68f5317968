import { localUrlOf } from '../app/local-url.ts'
import type { Log } from '../base.ts'
import { collectSettings } from '../collect/collect-settings.ts'
import { type CollectProcess, openCollect } from '../collect/open-collect.ts'
import type { Config } from '../config.ts'
import { SECOND_MS, systemClock } from '../core/clock.ts'
import { AppError, messageOf } from '../core/error.ts'
import { runJobs } from '../jobs/job.ts'
import { httpTransport } from '../transport/http-transport.ts'
import { mailTransport } from '../transport/mail-transport.ts'
import { transport } from '../transport/transport.ts'
import { openSegmentOutlet } from '../warehouse/open-segment-outlet.ts'
import { limitConnections, notHere, serve, stopServer, timeoutsOf, urlOf } from './http-listener.ts'

/** A running collector. */
export interface RunningCollector {
  /** URL of the collector: `http://127.0.0.1:8787`. */
  url: string
  /** Writes what was received, and forwards it as far as that is possible in a few seconds. */
  stop(): Promise<void>
}

/** Time limit for forwarding at shutdown, which must take less than 10 s (see `STOP_MS`). */
const FORWARD_MS = 5 * SECOND_MS

const NOT_READY = new AppError('unavailable', 'no settings have been copied from the control node yet', 5)

/**
 * Opens the data folder, listens and starts jobs. Rejects without leaving anything behind if the settings are incomplete
 * (`SettingError`) or the address can't be used.
 */
export async function startCollector(config: Config, log: Log): Promise<RunningCollector> {
  const { controlUrl, token, warehouse, guard } = collectSettings(config)
  const { outboundProxy, outboundCa } = config
  const publicUrl = config.publicUrl || config.collectUrl || localUrlOf(config.listen)
  const collecting = await openCollect({
    config: { ...config, publicUrl },
    controlUrl,
    token,
    clock: systemClock,
    log,
    transport: transport({
      http: httpTransport({ guard, proxy: outboundProxy, ca: outboundCa }),
      mail: mailTransport({ smtpUrl: '', from: '', ca: '' }),
    }),
    openOutlet: (db, folder) => {
      const address = { ...warehouse, ca: outboundCa }
      return openSegmentOutlet({ db, folder, clock: systemClock, address })
    },
  })
  try {
    const timeouts = timeoutsOf(config)
    const server = serve(listenerOf(config, collecting), config, log, timeouts)
    const stopCounting = limitConnections([server], config, log, timeouts.countMs)
    const jobs = runJobs(collecting.jobs, (error, job) => log.error(error, job))
    return {
      url: urlOf(server),
      async stop() {
        stopCounting()
        const ended = jobs.stop()
        await stopServer(server, timeouts.stopMs)
        const timer = setTimeout(collecting.abort, FORWARD_MS)
        await ended
        await collecting.forwardAll().catch((error: unknown) => {
          log.info(`the rest of the spool will be forwarded after the next start: ${messageOf(error)}`)
        })
        clearTimeout(timer)
        collecting.abort()
        await collecting.close()
      },
    }
  } catch (error) {
    collecting.abort()
    await collecting.close()
    throw error
  }
}

/** Serves the paths of a collector, and those of load balancers and monitoring. */
function listenerOf({ listen }: Config, collecting: CollectProcess) {
  const { collector, health } = collecting
  const isReady = () => collecting.isReady
  return {
    at: listen ?? { hostname: '127.0.0.1', port: 0 },
    collector: {
      refuse: collector.refuse.bind(collector),
      // An unknown token would be refused with 401, after which senders give up.
      events: (request: Request) =>
        isReady() ? collector.events(request) : Promise.resolve(collector.refuse(request, NOT_READY)),
    },
    answer(request: Request) {
      const { pathname } = new URL(request.url)
      if (collector.owns(pathname)) return isReady() ? collector.fetch(request) : collector.refuse(request, NOT_READY)
      return health.answer(pathname) ?? notHere()
    },
  }
}
