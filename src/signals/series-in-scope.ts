import type { SignalMode } from '../contract/statuses.ts'
import { dayOf, type SignalName } from './active-signals.ts'
import { ALL_SIGNALS, type SeriesScope } from './series.ts'
import type { SignalSetting } from './signal.ts'
import type { SignalsByDay } from './signal-cache.ts'
import type { ScopeMember } from './verdict-table.ts'

/** A signal and its setting. */
interface ConfiguredSignal {
  name: SignalName
  mode: SignalMode
  /** Null to use the scope's sensitivity. */
  sensitivity: number | null
  /** Days on which the signal has enough traffic; null when a setting makes it a signal on every day. */
  days: ReadonlySet<number> | null
}

/**
 * Returns the series that a scope covers. `sensitivities`: the sensitivities to evaluate; null to use the scope's
 * sensitivity. A signal with its own sensitivity always uses that. `found`: the signals of each domain.
 */
export function scopeMembers(
  scope: SeriesScope,
  sensitivities: readonly number[] | null,
  found: ReadonlyMap<string, SignalsByDay>,
  settings: readonly SignalSetting[],
): ScopeMember[] {
  const { sensitivity, ...series } = scope
  const wanted = sensitivities ?? [sensitivity]
  if (scope.vendor !== ALL_SIGNALS) return [{ scope, series, role: 'one', muted: false, sensitivities: wanted }]
  const whole = { ...series, vendor: null, event: null }
  const signals = configuredSignals(scope, found, settings).flatMap(
    ({ name, mode, sensitivity: own, days }): ScopeMember[] => {
      if (mode === 'off') return []
      const member: ScopeMember = {
        scope,
        series: { ...series, ...name },
        role: 'signal',
        muted: mode === 'muted',
        sensitivities: own === null ? wanted : wanted.map(() => own),
      }
      return [days === null ? member : { ...member, isOn: (instant) => days.has(dayOf(instant)) }]
    },
  )
  return [{ scope, series: whole, role: 'whole', muted: false, sensitivities: wanted }, ...signals]
}

/** Returns the signals that a scope `*` covers, sorted by vendor and event, including those with mode `off`. */
export function currentSignals(
  scope: SeriesScope,
  found: ReadonlyMap<string, SignalsByDay>,
  settings: readonly SignalSetting[],
): { name: SignalName; mode: SignalMode; sensitivity: number }[] {
  return configuredSignals(scope, found, settings).map(({ name, mode, sensitivity }) => ({
    name,
    mode,
    sensitivity: sensitivity ?? scope.sensitivity,
  }))
}

function configuredSignals(
  { domainId }: SeriesScope,
  found: ReadonlyMap<string, SignalsByDay>,
  settings: readonly SignalSetting[],
): ConfiguredSignal[] {
  const known = new Map<string, ConfiguredSignal>()
  const days = new Map<string, Set<number>>()
  for (const [day, names] of found.get(domainId) ?? []) {
    for (const name of names) {
      const key = keyOf(name)
      const own = days.get(key) ?? new Set()
      days.set(key, own.add(day))
      known.set(key, { name, mode: 'auto', sensitivity: null, days: own })
    }
  }
  for (const { vendor, event, mode, sensitivity, ...of } of settings) {
    if (of.domainId !== domainId) continue
    const name = { vendor, event }
    known.set(keyOf(name), { name, mode, sensitivity, days: null })
  }
  return [...known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, signal]) => signal)
}

/** Joined with NUL, which no name contains and which sorts before all other characters. */
const keyOf = ({ vendor, event }: SignalName) => `${vendor}\0${event}`
