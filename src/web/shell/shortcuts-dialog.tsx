import { Kbd, Modal, Table } from '@mantine/core'
import { messages } from '../messages.ts'
import { pages } from '../pages/index.ts'

/** Dialog with all keyboard shortcuts. */
export function Shortcuts({ isOpen, close }: { isOpen: boolean; close(): void }) {
  const { everywhere, goTo, ...others } = messages.keys
  const toPages = pages.flatMap(({ menu }) =>
    menu?.keys.startsWith('g ') ? [{ key: menu.keys, action: menu.title() }] : [],
  )
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={messages.shell.shortcuts}
      size="lg"
      closeButtonProps={{ 'aria-label': messages.shell.close }}
    >
      {[everywhere, { title: goTo, keys: toPages }, ...Object.values(others)].map(({ title, keys }) => (
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
