import { gtin, trackingData, type Example } from './example.ts'

export const purchase = {
  user_id: 'c0a8-77',
  user_logged_in_id: 'member-4711',
  transaction_id: '2026-000123',
  site_id: 101,
  publisher_id: 10,
  currency: 'EUR',
  products: [
    { gtin, group_id: 'COFFEE', brand: 'Acme', price: 19.99, quantity: 2 },
    { gtin: 'SHOP-CODE-7', price: 3.5, quantity: 1 },
  ],
}

export const sentBack = {
  publisher_id: 10,
  transaction_id: '2026-000123',
  return_id: 'R-41',
  products: [{ gtin, quantity: 1 }],
}

const link: Example = { path: { trackingData } }
const stored = { 200: {} }

export const trackingExamples = {
  deliverConversion: { body: purchase, answers: stored },
  deliverReturn: { body: sentBack, answers: stored },
  deliverImpression: { ...link, answers: stored },
  deliverImpressionByImage: link,
  probeImpression: link,
  deliverClick: { ...link, answers: stored },
  followClick: link,
  probeClick: link,
  deliverLoad: { ...link, answers: stored },
  deliverLoadByImage: link,
  probeLoad: link,
}
