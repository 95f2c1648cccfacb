/** What is on its way from one number of nodes to another, in data/: what the bus keeps for a while, and the files that are kept there. */
export const carriedFolder = 'bus-carried';
export const carriedBus = 'bus.sqlite';
export const carriedBlobs = 'blobs';
