/** Calendars of holidays. */
export const calendars = {
  restrictedAction: 'Changing calendars',
  intro:
    'On a holiday, Tagwarden compares traffic with earlier holidays instead of with the same weekday. A holiday is not part of the normal traffic of other days.',
  zone: (timezone: string) => `Holidays begin and end at midnight in the time zone ${timezone}.`,
  changeZone: 'Change time zone',
  none: 'No calendars. Add the holidays of your country or upload a calendar file.',
  create: 'Add calendar',
  deleteNamed: (name: string) => `Delete ${name}`,
  deleted: (name: string) => `Calendar ${name} deleted.`,
  deleteSentence: 'Its days become ordinary days.',
  created: (name: string) => `Calendar ${name} added.`,
  source: 'Source',
  sources: { country: 'Country', file: 'File' },
  uploaded: 'Uploaded file',
  country: 'Country or region',
  countryHint: 'Public and bank holidays. Data: date-holidays, based on Wikipedia, CC BY-SA 3.0.',
  file: 'Calendar file',
  fileHint: 'iCalendar (.ics), at most 1 MB. Every event is a holiday.',
  next: 'Next holidays',
  noNext: 'None',
}
