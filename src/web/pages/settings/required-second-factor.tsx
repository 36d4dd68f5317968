import { Text } from '@mantine/core'
import { queries } from '../../api/queries.ts'
import { Data } from '../../components/data-text.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { messages } from '../../messages.ts'
import { SecondFactorSetup } from './second-factor-setup.tsx'

/** Shown instead of every page until the user has set up the second factor that the organization requires. */
export function RequiredSecondFactor({ organization }: { organization: string }) {
  const t = messages.settings.secondFactor
  return (
    <>
      <PageHeader title={t.requiredTitle} />
      <Text mb="md">
        <Data>{organization}</Data> {t.required}
      </Text>
      <SecondFactorSetup close={() => void queries.invalidateQueries()} />
    </>
  )
}
