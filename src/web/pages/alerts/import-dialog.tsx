import { FileInput, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { createAlerts } from '#client/sdk.gen'
import type { AlertBulkResult, AlertInput } from '#client/types.gen'
import { ApiError } from '../../api/api-error.ts'
import { invalidate } from '../../api/queries.ts'
import { Data } from '../../components/data-text.tsx'
import { Form, useSubmit } from '../../components/form.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { messages } from '../../messages.ts'
import { parseAlertsFile } from './queries.ts'

interface Done {
  result: AlertBulkResult
  names: readonly string[]
}

/** Creates the alerts from a file and lists the error for each rejected alert. */
export function ImportDialog({ isOpen, close }: { isOpen: boolean; close(): void }) {
  const [file, choose] = useState<File | null>(null)
  const [done, finish] = useState<Done | null>(null)
  const t = messages.alerts
  const sending = useSubmit(['file'], async () => {
    const alerts = parseAlertsFile((await file?.text()) ?? '')
    if (!alerts) throw new ApiError(`file: ${t.notJson}`, 400, null)
    const { data } = await createAlerts({ body: { alerts: alerts as AlertInput[] } })
    finish({ result: data, names: alerts.map((alert) => ('name' in alert ? String(alert.name) : '')) })
    await invalidate('listAlerts')
  })
  const leave = () => {
    choose(null)
    finish(null)
    close()
  }
  return (
    <Modal
      opened={isOpen}
      onClose={leave}
      title={t.import}
      size="lg"
      closeButtonProps={{ 'aria-label': messages.shell.close }}
    >
      <Stack gap="md">
        {done && <Result {...done} />}
        <Form submission={sending} button={t.importButton} isWide>
          <FileInput
            label={t.file}
            description={t.importHint}
            placeholder={messages.components.chooseFile}
            accept="application/json,.json"
            value={file}
            onChange={(chosen) => {
              choose(chosen)
              finish(null)
            }}
            error={sending.errorOf('file')}
          />
        </Form>
      </Stack>
    </Modal>
  )
}

function Result({ result: { created, errors }, names }: Done) {
  const t = messages.alerts
  const reasons = new Map(errors.map(({ index, error }) => [index, error]))
  return (
    <div role="status">
      <Text mb="sm">
        {t.importedCount(created)} {errors.length > 0 && t.rejectedCount(errors.length)}
      </Text>
      <SimpleTable
        name={t.importTable}
        rows={[...names.entries()].toSorted(([a], [b]) => Number(reasons.has(b)) - Number(reasons.has(a)) || a - b)}
        keyOf={([index]) => String(index)}
        columns={[
          { head: t.name, cell: ([, name]) => (name ? <Data>{name}</Data> : t.unnamed) },
          {
            head: t.result,
            cell: ([index]) => (reasons.has(index) ? <Data>{reasons.get(index)}</Data> : t.imported),
          },
        ]}
      />
    </div>
  )
}
