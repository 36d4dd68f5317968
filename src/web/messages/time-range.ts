/** The time range: the interval in the header, and the period that a page covers. */
export const timeRange = {
  choose: 'Choose interval',
  change: (interval: string) => `Interval: ${interval}. Change`,
  remove: 'Remove interval',
  from: 'From',
  to: 'To',
  until: (to: string) => `Until ${to}`,
  since: (from: string) => `Since ${from}`,
  zone: 'Times in',
  organizationZone: 'Time zone of the organization:',
  apply: 'Apply',
  cancel: 'Cancel',
  wrong: {
    from: {
      missing: 'Enter the date and time of the start.',
      future: 'The start is in the future.',
      reversed: 'The start must be before the end.',
    },
    to: {
      missing: 'Enter the date and time of the end.',
      future: 'The end is in the future.',
      reversed: 'The end must be after the start.',
    },
  },
  last: (length: string) => `Last ${length}`,
  limited: (length: string) => `(this page covers at most ${length})`,
}
