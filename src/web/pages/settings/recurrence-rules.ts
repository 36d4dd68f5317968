/** How often a maintenance window repeats, as a choice in a form. */
export type Frequency = 'never' | 'daily' | 'weekdays' | 'weekly' | 'monthly' | 'custom'

const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** Returns the rule of a choice for a window that starts at a local time; null for `never` and `custom`. */
export function ruleOf(frequency: Frequency, start: string): string | null {
  const day = new Date(`${start}Z`)
  switch (frequency) {
    case 'daily':
      return 'FREQ=DAILY'
    case 'weekdays':
      return 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'
    case 'weekly':
      return `FREQ=WEEKLY;BYDAY=${DAYS[day.getUTCDay()] ?? 'MO'}`
    case 'monthly':
      return `FREQ=MONTHLY;BYMONTHDAY=${day.getUTCDate() || 1}`
    default:
      return null
  }
}

/** Returns the choice that a rule corresponds to. */
export function frequencyOf(rule: string | null, start: string): Frequency {
  if (rule === null) return 'never'
  const simple = (['daily', 'weekdays', 'weekly', 'monthly'] as const).find((one) => ruleOf(one, start) === rule)
  return simple ?? 'custom'
}
