import { type Clock, MINUTE_MS } from '../core/clock.ts'
import type { Db } from '../store/database.ts'
import type { Transport } from '../transport/transport.ts'
import { type CollectHost, hostsToCheck, noteHostCheck } from './collect-hostname-store.ts'

export interface CheckHostsDeps {
  db: Db
  clock: Clock
  transport: Transport
  /** Called when the collector must reload the hostnames. */
  changed(): void
  /** Aborted when the program shuts down. */
  signal: AbortSignal
}

/** Interval after which a hostname is checked again. */
const EVERY_MS = 10 * MINUTE_MS
/** Maximum number of hostnames checked per round. */
const HOSTS_PER_ROUND = 10

/**
 * Checks whether customers' hostnames point to this collector. New hostnames are checked soon after they are added, and
 * all others every ten minutes. When a check is aborted, the status of its hostname does not change.
 */
export async function checkHosts({ db, clock, transport, changed, signal }: CheckHostsDeps): Promise<void> {
  const hosts = hostsToCheck(db, clock.now() - EVERY_MS, HOSTS_PER_ROUND)
  const found = await Promise.all(hosts.map((host) => pointsHere(host, transport, signal)))
  if (signal.aborted) return
  for (const [index, host] of hosts.entries()) {
    noteHostCheck(db, host, found[index] ? 'active' : 'failing', clock.now())
  }
  if (hosts.some(({ status }, index) => (status === 'active') !== found[index])) changed()
}

/** Only this collector serves the configuration for the token. */
async function pointsHere(
  { hostname, token }: CollectHost,
  transport: Transport,
  signal: AbortSignal,
): Promise<boolean> {
  const url = `https://${hostname}/t/${token}.json`
  const reply = await transport.send({ kind: 'http', url, method: 'GET', headers: {}, body: '' }, signal)
  return reply.kind === 'status' && reply.status === 200 && reply.body.includes(`"${token}"`)
}
