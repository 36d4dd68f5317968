import { Drawer } from '@mantine/core'
import type { Event } from '#client/types.gen'
import { messages } from '../../../messages.ts'
import { EventDetails } from './event-details.tsx'

/** A drawer with the details of an event; null closes it. */
export function EventDrawer({ event, close }: { event: Event | null; close(): void }) {
  return (
    <Drawer
      opened={event !== null}
      onClose={close}
      position="right"
      size="lg"
      title={messages.explore.events.details}
      closeButtonProps={{ 'aria-label': messages.shell.close }}
    >
      {event && <EventDetails event={event} />}
    </Drawer>
  )
}
