import { useQuery } from '@tanstack/react-query'
import { getOrganizationOptions } from '#client/@tanstack/react-query.gen'
import { STALE_MS } from '../api/queries.ts'
import { messages } from '../messages.ts'
import { Data } from './data-text.tsx'
import { formatDuration, formatMoney, formatNumber, formatPercent, UNKNOWN } from './format.ts'

/** A value that may be unknown. Unknown values are shown as –, never as 0. */
type Maybe = number | null | undefined

const isKnown = (value: Maybe): value is number => typeof value === 'number' && Number.isFinite(value)

function Figure({ value, format, title }: { value: Maybe; format(value: number): string; title?: string }) {
  if (isKnown(value)) {
    return (
      <span className="figure" title={title}>
        <Data>{format(value)}</Data>
      </span>
    )
  }
  return (
    <span className="figure">
      <Data>
        <span aria-hidden>{UNKNOWN}</span>
      </Data>
      <span className="heard">{messages.displayNames.unknown}</span>
    </span>
  )
}

/** A number with its unit: `12,400 kB`. At most 2 decimals by default. */
export function Num({ value, unit, digits }: { value: Maybe; unit?: string; digits?: number }) {
  const format = (known: number) => formatNumber(known, digits) + (unit ? `\u00a0${unit}` : '')
  return <Figure value={value} format={format} />
}

/** A share from 0 to 1 as a percentage. */
export const Pct = ({ value }: { value: Maybe }) => <Figure value={value} format={formatPercent} />

/** Milliseconds as a duration of at most two units. */
export const Duration = ({ ms }: { ms: Maybe }) => <Figure value={ms} format={formatDuration} />

/** The organization's currency (ISO 4217); null if unset or loading. */
function useCurrency(): string | null {
  const { data } = useQuery({ ...getOrganizationOptions(), staleTime: STALE_MS.dictionary })
  return data?.currency ?? null
}

/** An amount in the organization's currency, or a plain number without one. */
export function Money({ value }: { value: Maybe }) {
  const currency = useCurrency()
  return <Figure value={value} format={(known) => formatMoney(known, currency)} />
}
