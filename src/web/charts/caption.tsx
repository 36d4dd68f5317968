import { Data } from '../components/data-text.tsx'

/** Line above a chart: `events per hour · shop.example · Europe/Berlin`. */
export function Caption({ unit, scope, zone }: { unit: string; scope?: string; zone: string }) {
  return (
    <>
      {unit}
      {scope && (
        <Data>
          {' · '}
          {scope}
        </Data>
      )}
      <Data>
        {' · '}
        {zone}
      </Data>
    </>
  )
}
