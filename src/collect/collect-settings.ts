import type { Config } from '../config.ts'
import { AppError } from '../core/error.ts'
import { PREFIX, SettingError } from '../setting-source.ts'
import { type AddressGuard, addressGuard } from '../transport/address-guard.ts'
import type { ClickhouseLogin } from '../transport/clickhouse-url.ts'

/** The settings that a collector requires. */
export interface CollectSettings {
  /** URL of the control node, without a trailing slash. */
  controlUrl: string
  token: string
  warehouse: ClickhouseLogin
  /** Allows requests to the control node, also in a private network. */
  guard: AddressGuard
}

/** Returns the settings of a collector. Throws `SettingError` if one is missing. */
export function collectSettings({ control, collectorToken, warehouse, outboundAllow }: Config): CollectSettings {
  if (control === '') throw missing('CONTROL', 'the URL of the control node, or --control')
  if (collectorToken === '') throw missing('COLLECTOR_TOKEN', 'the token that "tagwarden collectors add" has printed')
  if (!warehouse) throw missing('WAREHOUSE', 'the ClickHouse database of the control node')
  return { controlUrl: control, token: collectorToken, warehouse, guard: controlGuard(control, outboundAllow) }
}

function missing(name: string, what: string): SettingError {
  return new SettingError(`${PREFIX}${name}: must be set to ${what}`)
}

/**
 * Nobody but the operator chooses where a collector connects to, so a control node in a private network needs no entry in
 * `OUTBOUND_ALLOW`. Without TLS it does, because the token is then readable on the way.
 */
function controlGuard(control: string, allow: readonly string[]): AddressGuard {
  const { protocol, hostname } = new URL(control)
  const own = protocol === 'https:' ? [hostname.replace(/^\[(.*)\]$/, '$1')] : []
  const guard = addressGuard([...allow, ...own])
  try {
    guard.checkUrl(control)
    return guard
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new SettingError(`${PREFIX}CONTROL: ${error.message}`)
  }
}
