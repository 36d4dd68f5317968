import { Group, UnstyledButton } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
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
      {broken > 0 && (
        <Group gap={4} c="var(--tw-critical-text)" fz="xs">
          <IconAlertTriangle size={14} aria-hidden />
          {messages.explore.events.violations}
        </Group>
      )}
    </div>
  )
}
