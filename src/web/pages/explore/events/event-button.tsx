import { UnstyledButton } from '@mantine/core'
import type { Event } from '#client/types.gen'
import { Data } from '../../../components/data-text.tsx'
import { messages } from '../../../messages.ts'

/** A button that opens an event, labelled with its name and the number of violated rules. */
export function EventButton({ event, open }: { event: Event; open(event: Event): void }) {
  const broken = event.violations?.length ?? 0
  return (
    <div>
      <UnstyledButton onClick={() => open(event)} fw={600} className="underlined">
        <Data>{event.event}</Data>
      </UnstyledButton>
      {broken > 0 && <div className="under">{messages.explore.events.violations}</div>}
    </div>
  )
}
