import { EVERY, type SeriesScope } from './series.ts'
import type { SignalMode, SignalSetting } from './signal.ts'
import type { SignalsByDay } from './signal-directory.ts'
import { dayOf, type SignalName } from './signal-names.ts'
import type { Member } from './verdict-table.ts'

/** A signal, and what is to be done about it. */
interface KnownSignal {
  name: SignalName
  mode: SignalMode
  /** Null: that of the scope. */
  sensitivity: number | null
  /** Days on which it has enough traffic; null: a setting makes it one on every day. */
  days: ReadonlySet<number> | null
}

/**
 * The series that a scope stands for. `sensitivities`: those to be tried, null for the scope's own; a signal that has one
 * of its own keeps it. `found`: the signals of each domain.
 */
export function membersOf(
  scope: SeriesScope,
  sensitivities: readonly number[] | null,
  found: ReadonlyMap<string, SignalsByDay>,
  settings: readonly SignalSetting[],
): Member[] {
  const { sensitivity, ...series } = scope
  const asked = sensitivities ?? [sensitivity]
  if (scope.vendor !== EVERY) return [{ scope, series, role: 'one', muted: false, sensitivities: asked }]
  const whole = { ...series, vendor: null, event: null }
  const signals = knownSignals(scope, found, settings).flatMap(({ name, mode, sensitivity: own, days }): Member[] => {
    if (mode === 'off') return []
    const member: Member = {
      ...{ scope, series: { ...series, ...name }, role: 'signal', muted: mode === 'muted' },
      sensitivities: own === null ? asked : asked.map(() => own),
    }
    return [days === null ? member : { ...member, isOn: (instant) => days.has(dayOf(instant)) }]
  })
  return [{ scope, series: whole, role: 'whole', muted: false, sensitivities: asked }, ...signals]
}

/** The signals of a scope `*`, by vendor and event, those that are off among them. */
export function signalsNow(
  scope: SeriesScope,
  found: ReadonlyMap<string, SignalsByDay>,
  settings: readonly SignalSetting[],
): { name: SignalName; mode: SignalMode; sensitivity: number }[] {
  return knownSignals(scope, found, settings).map(({ name, mode, sensitivity }) => ({
    ...{ name, mode },
    sensitivity: sensitivity ?? scope.sensitivity,
  }))
}

function knownSignals(
  { domainId }: SeriesScope,
  found: ReadonlyMap<string, SignalsByDay>,
  settings: readonly SignalSetting[],
): KnownSignal[] {
  const known = new Map<string, KnownSignal>()
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

/** No name holds NUL, which comes before all else. */
const keyOf = ({ vendor, event }: SignalName) => `${vendor}\0${event}`
