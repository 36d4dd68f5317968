import { Kbd, Modal, Table } from '@mantine/core'
import { messages } from '../messages.ts'

/** The list of all keys. */
export function Shortcuts({ isOpen, close }: { isOpen: boolean; close(): void }) {
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={messages.shell.shortcuts}
      size="lg"
      closeButtonProps={{ 'aria-label': messages.shell.close }}
    >
      {messages.keys.map(({ title, keys }) => (
        <Table key={title} captionSide="top" mb="md">
          <Table.Caption ta="start" fw={600}>
            {title}
          </Table.Caption>
          <Table.Tbody>
            {keys.map(({ key, action }) => (
              <Table.Tr key={key}>
                <Table.Th scope="row" w={160} fw={400}>
                  {key.split(' ').map((part) => (
                    <Kbd key={part} mr={4} translate="no">
                      {part}
                    </Kbd>
                  ))}
                </Table.Th>
                <Table.Td>{action}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      ))}
    </Modal>
  )
}
